import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { messages, messagesWith, openedMessage, toldPrompt } from '../../../testing/alert-messages.ts'
import { startReceiver } from '../../../testing/receiver.ts'
import { pagerDutyEvent } from '../../src/alerts/pagerduty.ts'
import { createSendMessage } from '../../src/alerts/send.ts'
import type { Message } from '../../src/domain/alerts/message.ts'
import { channelContext, publicUrl, targetOf } from './channel-context.ts'

const routingKey = 'R0123456789abcdefghijklmnopqrstu'

async function start() {
  const receiver = await startReceiver((response) => response.writeHead(202).end('{"status":"success"}'))
  const send = createSendMessage(channelContext({ pagerDutyUrl: `${receiver.url}v2/enqueue` }))
  return { receiver, send: (message: Message) => send(targetOf('pagerduty', routingKey), 'msg_1', message) }
}

function eventOf(message: Message) {
  return pagerDutyEvent(message, publicUrl, routingKey) as {
    event_action: string
    dedup_key: string
    payload?: { summary: string; severity: string }
  }
}

describe('A PagerDuty event', () => {
  test('a regression opens an incident with figures, explanation, comments and links', async () => {
    const { receiver, send } = await start()
    const attempt = await send(openedMessage)
    assert.deepEqual(attempt, { outcome: 'sent', status: 202, response: '{"status":"success"}', error: null })
    const { path, headers, body } = receiver.received[0] ?? assert.fail('nothing was received')
    assert.deepEqual([path, headers['content-type']], ['/v2/enqueue', 'application/json'])
    const link = `${publicUrl}/prompts/pmt_5mVq2Xc8Rj0LwTz7Kb4NyHdA`
    assert.deepEqual(JSON.parse(body), {
      routing_key: routingKey,
      dedup_key: 'pull/hk_2mXqLr5Tz1Nv/42',
      event_action: 'trigger',
      client: 'Promptledger',
      client_url: `${link}?entry=1042`,
      links: [
        { href: `${link}?entry=1042`, text: 'See the change' },
        { href: 'https://github.com/acme/prompts/pull/42', text: 'Pull request #42' },
        { href: `${link}/regressions/7?undo`, text: 'Undo' },
        { href: `${link}/regressions/7`, text: 'Dismiss' },
      ],
      payload: {
        summary: '“support/refund-reply” got worse with pull request #42',
        source: 'support/refund-reply',
        severity: 'error',
        timestamp: '2026-11-14T18:20:00.000Z',
        group: 'Acme',
        class: 'regression.opened',
        custom_details: {
          Change: '#42 Shorten the refund reply',
          Author: 'Ada Lovelace',
          'Live since': '2026-11-12 16:05 UTC',
          Prompts: [
            {
              Prompt: 'support/refund-reply',
              Rate: '85% → 60% (1,204 and 310 signals; between 21 and 29 points lower)',
              Explanation: toldPrompt.explanation,
              Comments: toldPrompt.comments.map(({ text }) => text),
            },
          ],
        },
      },
    })
  })

  test('a regression that is repaired, withdrawn or dismissed resolves its incident', async () => {
    const { receiver, send } = await start()
    for (const event of ['regression.repaired', 'regression.withdrawn', 'regression.dismissed'] as const) {
      assert.equal((await send(messages[event])).outcome, 'sent')
      const expected = { routing_key: routingKey, dedup_key: 'pull/hk_2mXqLr5Tz1Nv/42', event_action: 'resolve' }
      assert.deepEqual(JSON.parse(receiver.received.at(-1)?.body ?? ''), expected)
    }
  })

  test('a repository that recovers resolves the incident that its failure opened', () => {
    const [failing, recovered] = [eventOf(messages['repository.failing']), eventOf(messages['repository.recovered'])]
    assert.deepEqual([failing.event_action, recovered.event_action], ['trigger', 'resolve'])
    assert.equal(failing.dedup_key, recovered.dedup_key)
    const [near, reached] = [eventOf(messages['limit.near']), eventOf(messages['limit.reached'])]
    assert.equal(near.dedup_key, reached.dedup_key)
    assert.deepEqual([near.payload?.severity, reached.payload?.severity], ['warning', 'error'])
  })

  test('the response of PagerDuty decides whether an event is sent again', async () => {
    const { receiver, send } = await start()
    const outcomes = { 202: 'sent', 400: 'rejected', 429: 'retry', 500: 'retry', 503: 'retry' }
    for (const [status, outcome] of Object.entries(outcomes)) {
      receiver.respondWith((response) => response.writeHead(Number(status)).end())
      assert.equal((await send(openedMessage)).outcome, outcome, status)
    }
  })

  test("an event stays within PagerDuty's limits, however long the fields are", () => {
    for (const message of messagesWith('long '.repeat(5_000))) {
      const event = eventOf(message)
      assert.ok(event.dedup_key.length <= 255)
      assert.ok((event.payload?.summary.length ?? 0) <= 1_024)
      assert.ok(JSON.stringify(event).length < 100_000)
    }
    const manyPrompts = Array.from({ length: 20 }, () => messages['shift.unexplained']).flatMap((message) =>
      message.event === 'shift.unexplained' ? message.prompts : [],
    )
    const shift = { ...messages['shift.unexplained'], prompts: manyPrompts } as Message
    assert.ok(eventOf(shift).dedup_key.length <= 255)
  })

  test('an event goes to the region of the account', async () => {
    const hosts: string[] = []
    const lookUp = async (host: string) => {
      hosts.push(host)
      return []
    }
    const send = createSendMessage(channelContext({ network: { allowPrivate: false, allowHttp: false, lookUp } }))
    await send(targetOf('pagerduty', routingKey), 'msg_1', openedMessage)
    await send(targetOf('pagerduty', `eu:${routingKey}`), 'msg_1', openedMessage)
    assert.deepEqual(hosts, ['events.pagerduty.com', 'events.eu.pagerduty.com'])
  })
})

describe('A dismissal', () => {
  test('a dismissal is sent to PagerDuty only', async () => {
    const receiver = await startReceiver()
    const send = createSendMessage(channelContext())
    for (const channel of ['webhook', 'slack', 'email'] as const) {
      const attempt = await send(targetOf(channel, receiver.url), 'msg_1', messages['regression.dismissed'])
      assert.equal(attempt.outcome, 'rejected')
    }
    assert.deepEqual(receiver.received, [])
  })
})
