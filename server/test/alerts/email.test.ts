import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { describe, test } from 'node:test'
import { messages, messagesWith, openedMessage } from '../../../testing/alert-messages.ts'
import { onTestEnd } from '../../../testing/cleanup.ts'
import { smtpError, startMailServer } from '../../../testing/mail-server.ts'
import { createSendMessage } from '../../src/alerts/send.ts'
import type { Message } from '../../src/domain/alerts/message.ts'
import { channelContext, publicUrl, targetOf } from './channel-context.ts'

const id = 'msg_2b4d6f8a0c1e3g5i7k9m1o3q'
const from = { name: 'Promptledger', address: 'alerts@ledger.example.com' }

function mailVia(url: string) {
  const context = channelContext({ mail: { url, from } })
  const send = (message: Message = openedMessage, to = 'team@example.com') =>
    createSendMessage(context)(targetOf('email', to), id, message)
  return { context, send }
}

/** The headers of a message, with continued lines joined, and its parts decoded. */
function parse(source: string) {
  const [head = '', ...rest] = source.split('\r\n\r\n')
  const headers = head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n')
  const valuesOf = (name: string) =>
    headers
      .filter((header) => header.toLowerCase().startsWith(`${name.toLowerCase()}: `))
      .map((header) => header.slice(name.length + 2))
  const boundary = /boundary="([^"]+)"/.exec(head)?.[1] ?? ''
  const parts = rest.join('\r\n\r\n').split(`--${boundary}`).map(decodePart)
  return {
    headers,
    valuesOf,
    text: parts.find(({ type }) => type === 'text/plain')?.content ?? '',
    html: parts.find(({ type }) => type === 'text/html')?.content ?? '',
  }
}

function decodePart(part: string): { type: string; content: string } {
  const [head = '', ...rest] = part.split('\r\n\r\n')
  const type = /content-type: ([\w/]+)/i.exec(head)?.[1] ?? ''
  const raw = rest.join('\r\n\r\n')
  if (/content-transfer-encoding: base64/i.test(head)) return { type, content: Buffer.from(raw, 'base64').toString() }
  if (!/content-transfer-encoding: quoted-printable/i.test(head)) return { type, content: raw }
  const bytes = raw
    .replaceAll('=\r\n', '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  return { type, content: Buffer.from(bytes, 'latin1').toString() }
}

function decodeHeader(value: string): string {
  return value.replaceAll(/\?=\s+=\?/g, '?==?').replaceAll(/=\?UTF-8\?([BQ])\?([^?]*)\?=/gi, (_, encoding, text) =>
    encoding.toUpperCase() === 'B'
      ? Buffer.from(text, 'base64').toString()
      : Buffer.from(
          text
            .replaceAll('_', ' ')
            .replaceAll(/=([0-9A-F]{2})/g, (_: string, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
          'latin1',
        ).toString(),
  )
}

describe('An email', () => {
  test('an email has subject, text and HTML, and goes to every address', async () => {
    const server = await startMailServer()
    const attempt = await mailVia(server.url).send(openedMessage, 'team@example.com,lead@example.com')
    assert.deepEqual([attempt.outcome, attempt.status, attempt.error], ['sent', 250, null])
    const [mail] = server.received
    assert.deepEqual([mail?.from, mail?.to], [from.address, ['team@example.com', 'lead@example.com']])
    const { valuesOf, text, html } = parse(mail?.source ?? '')
    assert.deepEqual(valuesOf('subject').map(decodeHeader), ['“support/refund-reply” got worse with pull request #42'])
    assert.deepEqual(valuesOf('from'), ['Promptledger <alerts@ledger.example.com>'])
    assert.deepEqual(valuesOf('auto-submitted'), ['auto-generated'])
    const said = [
      'support/refund-reply',
      '#42 Shorten the refund reply',
      'Ada Lovelace',
      '2026-11-12 16:05 UTC',
      '85% → 60% (1,204 and 310 signals; between 21 and 29 points lower)',
      'more likely with an effect of the change',
      'Asked for the order number twice',
      `${publicUrl}/prompts/pmt_5mVq2Xc8Rj0LwTz7Kb4NyHdA?entry=1042`,
      'https://github.com/acme/prompts/pull/42',
      `${publicUrl}/prompts/pmt_5mVq2Xc8Rj0LwTz7Kb4NyHdA/regressions/7`,
    ]
    for (const part of said) {
      assert.ok(text.includes(part), `text: ${part}`)
      assert.ok(html.includes(part), `html: ${part}`)
    }
  })

  test('emails of every event can be sent, and all about one change form a conversation', async () => {
    const server = await startMailServer()
    const { send } = mailVia(server.url)
    const { 'regression.dismissed': _, ...told } = messages
    for (const message of Object.values(told)) assert.equal((await send(message)).outcome, 'sent', message.event)
    const threads = server.received.map(({ source }) => parse(source).valuesOf('references').join())
    const [opened, repaired, withdrawn, ...others] = threads
    assert.match(opened ?? '', /^<[0-9a-f]{32}@ledger\.example\.com>$/)
    assert.deepEqual([repaired, withdrawn], [opened, opened])
    assert.ok(!others.includes(opened as string))
    const ids = server.received.map(({ source }) => parse(source).valuesOf('message-id').join())
    assert.deepEqual(new Set(ids), new Set([`<${id}@ledger.example.com>`]), 'the ID of the delivery, in every attempt')
  })

  test('no field can add headers, recipients or HTML to an email', async () => {
    const server = await startMailServer()
    const { send } = mailVia(server.url)
    const text =
      'x\r\nBcc: victim@example.com\r\n\r\n<script>alert(1)</script><img src="https://evil.example/p.png">\u2028" onclick="x'
    const { 'regression.dismissed': _, ...events } = messages
    for (const message of messagesWith(text).filter(({ event }) => event in events)) {
      assert.equal((await send(message)).outcome, 'sent', message.event)
      const mail = server.received.at(-1) ?? assert.fail('nothing was received')
      assert.deepEqual(mail.to, ['team@example.com'])
      const { headers, html, valuesOf } = parse(mail.source)
      assert.ok(
        headers.every((header) => /^[\w-]+: /.test(header) && !/^bcc:/i.test(header)),
        message.event,
      )
      assert.equal(valuesOf('subject').length, 1)
      assert.doesNotMatch(html, /<script|<img|" onclick="/)
      assert.doesNotMatch(html, /href="(?!https:\/\/ledger\.example\.com)/)
    }
  })

  test('an email is rejected for good by a 5xx reply and tried again after a 4xx reply', async () => {
    const replyTo = async (error: Error) => {
      const server = await startMailServer({ onRcptTo: (_address, _session, callback) => callback(error) })
      const { outcome, status, response } = await mailVia(server.url).send()
      return { outcome, status, response }
    }
    assert.deepEqual(await replyTo(smtpError(550, 'No such user')), {
      outcome: 'rejected',
      status: 550,
      response: '550 No such user',
    })
    assert.deepEqual(await replyTo(smtpError(451, 'Greylisted')), {
      outcome: 'retry',
      status: 451,
      response: '451 Greylisted',
    })
    const full = await startMailServer({
      onData: (stream, _session, callback) => stream.resume().on('end', () => callback(smtpError(552, 'Too large'))),
    })
    assert.equal((await mailVia(full.url).send()).outcome, 'rejected')
  })

  test('an email that one of two addresses accepts is sent, and names the other', async () => {
    const server = await startMailServer({
      onRcptTo: ({ address }, _session, callback) =>
        callback(address === 'gone@example.com' ? smtpError(550, 'No such user') : null),
    })
    const { outcome, response } = await mailVia(server.url).send(openedMessage, 'gone@example.com,team@example.com')
    assert.equal(outcome, 'sent')
    assert.match(response ?? '', /Not accepted for gone@example\.com\.$/)
  })

  test('wrong credentials or a wrong sender leave time for the operator, and only the log says why', async () => {
    const wrongPassword = await startMailServer({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: (_auth, _session, callback) => callback(smtpError(535, 'Authentication failed for relay-7.internal')),
    })
    const wrongSender = await startMailServer({
      onMailFrom: (_address, _session, callback) => callback(smtpError(553, 'Sender of relay-7.internal not allowed')),
    })
    for (const url of [
      wrongPassword.url.replace('smtp://', 'smtp://user:pass-1234@'),
      wrongSender.url,
      'smtp://127.0.0.1:1',
    ]) {
      const { context, send } = mailVia(url)
      const attempt = await send()
      assert.equal(attempt.outcome, 'retry', url)
      assert.match(attempt.error ?? '', /Ask the operator to check SMTP_URL and the log\.$/)
      assert.doesNotMatch(JSON.stringify(attempt), /relay-7|127\.0\.0\.1|pass-1234/)
      assert.equal(context.logged.length, 1)
      assert.doesNotMatch(JSON.stringify(context.logged), /pass-1234/)
    }
  })

  test('an email fails after 10 s if the mail server hangs', async () => {
    const silent = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    onTestEnd(() => silent.close())
    const startedAt = performance.now()
    const attempt = await mailVia(`smtp://127.0.0.1:${(silent.address() as AddressInfo).port}`).send()
    assert.equal(attempt.outcome, 'retry')
    assert.ok(performance.now() - startedAt < 20_000)
  })

  test('without a mail server, an email says what the operator has to set', async () => {
    const attempt = await createSendMessage(channelContext())(targetOf('email', 'team@example.com'), id, openedMessage)
    assert.deepEqual([attempt.outcome, attempt.status], ['retry', null])
    assert.match(attempt.error ?? '', /Ask the operator to set SMTP_URL/)
  })
})
