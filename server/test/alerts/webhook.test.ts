import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { messages, messagesWith, openedMessage, toldPrompt } from '../../../testing/alert-messages.ts'
import { exampleOf, schemaFinder } from '../../../testing/operations.ts'
import { startReceiver } from '../../../testing/receiver.ts'
import { createSendMessage } from '../../src/alerts/send.ts'
import { webhookBody } from '../../src/alerts/webhook-body.ts'
import { generateWebhookSecret } from '../../src/alerts/webhook-secret.ts'
import { alertEvents } from '../../src/domain/alerts/event.ts'
import type { Message } from '../../src/domain/alerts/message.ts'
import type { Document } from '../../src/http/docs/openapi-document.ts'
import { signalEventText } from '../../src/service/signal-sender.ts'
import { channelContext, publicUrl, targetOf } from './channel-context.ts'

const id = 'msg_2b4d6f8a0c1e3g5i7k9m1o3q'

describe('A webhook', () => {
  test('a webhook of every event is verified by the standardwebhooks library', async () => {
    const receiver = await startReceiver((response) => response.writeHead(204).end())
    const secret = generateWebhookSecret()
    const send = createSendMessage(channelContext())
    const { 'regression.dismissed': _, ...told } = messages
    for (const message of Object.values(told)) {
      const attempt = await send(targetOf('webhook', receiver.url, [secret]), id, message)
      assert.deepEqual(attempt, { outcome: 'sent', status: 204, response: null, error: null })
      const { method, headers, body } = receiver.received.at(-1) ?? assert.fail('nothing was received')
      assert.equal(method, 'POST')
      assert.equal(headers['content-type'], 'application/json')
      assert.equal(headers['webhook-id'], id)
      const payload = new Webhook(secret).verify(body, headers as Record<string, string>) as { type: string }
      assert.equal(payload.type, message.event)
      assert.throws(() => new Webhook(secret).verify(body.replace('Acme', 'Acne'), headers as Record<string, string>))
    }
  })

  test('a webhook of every event matches its schema in the OpenAPI document, whatever the fields contain', () => {
    const document: Document = JSON.parse(readFileSync(new URL('../../../dist/openapi.json', import.meta.url), 'utf8'))
    const schemaAt = schemaFinder(document)
    const long = messagesWith('long "\u0000<x>\\ '.repeat(5_000))
    for (const message of [...Object.values(messages), ...messagesWith(''), ...long]) {
      if (message.event === 'regression.dismissed') continue
      const matches = schemaAt(
        'webhooks',
        message.event,
        'post',
        'requestBody',
        'content',
        'application/json',
        'schema',
      )
      const isValid = (body: unknown): boolean => matches(body)
      const body = JSON.parse(JSON.stringify(webhookBody(message, publicUrl)))
      assert.ok(isValid(body), `${message.event}: ${JSON.stringify(matches.errors)}`)
      assert.ok(!isValid({ ...body, type: 'other' }), 'the schema is of this event only')
      assert.ok(!isValid({ ...body, data: { ...body.data, other: 1 } }), 'the schema lists every field')
    }
    assert.deepEqual(Object.keys(document.webhooks).sort(), [...alertEvents, 'alert.test', 'signals'].sort())
  })

  test('a webhook is exactly what the OpenAPI document shows as an example', () => {
    const { webhooks }: Document = JSON.parse(
      readFileSync(new URL('../../../dist/openapi.json', import.meta.url), 'utf8'),
    )
    for (const [event, { post }] of Object.entries(webhooks)) {
      // A batch: see below.
      if (event === 'signals') continue
      const body = JSON.parse(JSON.stringify(webhookBody(messages[event as Message['event']], publicUrl)))
      assert.deepEqual(exampleOf(post.requestBody?.content), body)
    }
  })

  test('a batch of signals matches its schema in the OpenAPI document, and so does the example', () => {
    const document: Document = JSON.parse(readFileSync(new URL('../../../dist/openapi.json', import.meta.url), 'utf8'))
    const matches = schemaFinder(document)(
      'webhooks',
      'signals',
      'post',
      'requestBody',
      'content',
      'application/cloudevents-batch+json',
      'schema',
    )
    const example = exampleOf(document.webhooks.signals?.post.requestBody?.content) as object[]
    const prompt = { publicId: toldPrompt.prompt.publicId, name: 'p "\u0000<x>', path: null }
    const signal = {
      id: 5,
      value: 'negative' as const,
      metadata: '{"model":"small"}',
      createdAt: 2,
      occurredAt: 1,
      version: null,
      subject: 'answer-1',
      voter: null,
      comment: '“No”',
      traceId: null,
    }
    const events = [
      { id: 'evt_1', kind: 'replaced' as const, at: 3, signalId: 5, prompt, signal },
      { id: 'evt_2', kind: 'erased' as const, at: 4, signalId: 6, prompt, signal: null },
    ].map((event) => JSON.parse(signalEventText(event, publicUrl) ?? 'null'))
    assert.ok(matches([...example, ...events]), JSON.stringify(matches.errors))
    assert.ok(!matches([{ ...events[0], type: 'other' }]), 'the schema lists the types')
  })

  test('a webhook is signed with both secrets during a rotation', async () => {
    const receiver = await startReceiver()
    const secrets = [generateWebhookSecret(), generateWebhookSecret()]
    await createSendMessage(channelContext())(targetOf('webhook', receiver.url, secrets), id, openedMessage)
    const { headers, body } = receiver.received[0] ?? assert.fail('nothing was received')
    for (const secret of secrets) new Webhook(secret).verify(body, headers as Record<string, string>)
    assert.match(String(headers['webhook-signature']), /^v1,[\w+/]{43}= v1,[\w+/]{43}=$/)
    assert.throws(() => new Webhook(generateWebhookSecret()).verify(body, headers as Record<string, string>))
  })

  test('a webhook carries the time of the attempt and the same ID in every attempt', async () => {
    const receiver = await startReceiver((response) => response.writeHead(500).end())
    const context = channelContext()
    let now = Date.parse('2026-11-14T18:20:00.900Z')
    const send = createSendMessage({ ...context, clock: () => now })
    const target = targetOf('webhook', receiver.url, [generateWebhookSecret()])
    await send(target, id, openedMessage)
    now += 3_600_000
    await send(target, id, openedMessage)
    const [first, second] = receiver.received.map(({ headers }) => headers)
    assert.deepEqual([first?.['webhook-id'], second?.['webhook-id']], [id, id])
    assert.deepEqual([first?.['webhook-timestamp'], second?.['webhook-timestamp']], ['1794680400', '1794684000'])
    assert.equal(receiver.received[0]?.body, receiver.received[1]?.body)
  })

  test('a webhook says everything that is known about a regression', async () => {
    const receiver = await startReceiver()
    const long = { text: 'x'.repeat(5_000), at: 0 }
    const message = {
      ...openedMessage,
      prompts: [{ ...toldPrompt, comments: [...toldPrompt.comments.slice(0, 1), long] }],
    }
    await createSendMessage(channelContext())(targetOf('webhook', receiver.url, [generateWebhookSecret()]), id, message)
    const body = JSON.parse(receiver.received[0]?.body ?? '')
    const [prompt] = body.data.prompts
    assert.equal(prompt.comments[1].text.length, 2_000)
    prompt.comments.pop()
    assert.deepEqual(body, {
      type: 'regression.opened',
      timestamp: '2026-11-14T18:20:00.000Z',
      data: {
        organisation: 'Acme',
        summary: '“support/refund-reply” got worse with pull request #42',
        change: {
          id: 1042,
          action: 'pr_merged',
          user: { name: 'Ada Lovelace', email: 'ada@example.com' },
          commit_sha: '8f3a1c5e7b9d2f4a6c8e0b1d3f5a7c9e1b3d5f7a',
          pr_number: 42,
          pr_url: 'https://github.com/acme/prompts/pull/42',
          branch_name: 'main',
          created_at: '2026-11-12T16:05:00.000Z',
        },
        title: 'Shorten the refund reply',
        repository_id: 3,
        dedup_key: 'pull/hk_2mXqLr5Tz1Nv/42',
        prompts: [
          {
            id: 'pmt_5mVq2Xc8Rj0LwTz7Kb4NyHdA',
            name: 'support/refund-reply',
            regression_id: 7,
            owner: 'ada@example.com',
            state: 'open',
            entry_id: 1042,
            live_from: '2026-11-12T16:05:00.000Z',
            before: { rate: 0.85, signals: 1204 },
            after: { rate: 0.6, signals: 310 },
            difference: -0.25,
            interval: [-0.29, -0.21],
            explanation: toldPrompt.explanation,
            repaired_by: null,
            repaired_entry: null,
            comments: [{ text: 'It did not tell me when I get my money back', created_at: '2026-11-14T17:58:00.000Z' }],
            links: {
              change: `${publicUrl}/prompts/pmt_5mVq2Xc8Rj0LwTz7Kb4NyHdA?entry=1042`,
              undo: `${publicUrl}/prompts/pmt_5mVq2Xc8Rj0LwTz7Kb4NyHdA/regressions/7?undo`,
              dismiss: `${publicUrl}/prompts/pmt_5mVq2Xc8Rj0LwTz7Kb4NyHdA/regressions/7`,
            },
          },
        ],
      },
    })
  })

  test('a webhook that fails is sent again, and 410 ends it', async () => {
    const receiver = await startReceiver()
    const send = createSendMessage(channelContext())
    const attemptWith = (status: number) => {
      receiver.respondWith((response) => response.writeHead(status, { 'retry-after': '120' }).end('line 1\r\nline 2'))
      return send(targetOf('webhook', receiver.url, [generateWebhookSecret()]), id, openedMessage)
    }
    for (const status of [400, 401, 404, 429, 500, 503]) {
      const error = `The receiver responded with ${status} instead of 2xx.`
      const expected = { outcome: 'retry', status, response: 'line 1 line 2', error, retryAfterMs: 120_000 }
      assert.deepEqual(await attemptWith(status), expected)
    }
    const { outcome, status } = await attemptWith(410)
    assert.deepEqual([outcome, status], ['gone', 410])
    const moved = await attemptWith(301)
    assert.deepEqual([moved.outcome, moved.status], ['retry', 301])
    assert.match(moved.error ?? '', /redirects \(301\)/)
  })

  test('a webhook to a private address is not sent, and the error tells nothing about the network', async () => {
    const receiver = await startReceiver()
    const network = { allowPrivate: false, allowHttp: false, lookUp: async () => ['127.0.0.1'] }
    const send = createSendMessage(channelContext({ network }))
    const target = targetOf('webhook', `https://hooks.example:${receiver.port}/`, [generateWebhookSecret()])
    const error = 'The host cannot be reached, or its address is not public.'
    assert.deepEqual(await send(target, id, openedMessage), { outcome: 'retry', status: null, response: null, error })
    assert.deepEqual(receiver.received, [])
  })
})

describe('A webhook secret', () => {
  test('a webhook secret is random and has the format of Standard Webhooks', () => {
    const secrets = Array.from({ length: 100 }, generateWebhookSecret)
    assert.equal(new Set(secrets).size, 100)
    for (const secret of secrets) {
      assert.match(secret, /^whsec_[\w+/]+=*$/)
      const { length } = Buffer.from(secret.slice(6), 'base64')
      assert.ok(length >= 24 && length <= 64)
    }
  })
})
