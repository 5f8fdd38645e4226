import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { messages, messagesWith, openedMessage, toldPrompt } from '../../../testing/alert-messages.ts'
import { startReceiver } from '../../../testing/receiver.ts'
import { createSendMessage } from '../../src/alerts/send.ts'
import { slackMessage } from '../../src/alerts/slack.ts'
import { contentOf } from '../../src/alerts/text.ts'
import type { Message } from '../../src/domain/alerts/message.ts'
import { channelContext, publicUrl, targetOf } from './channel-context.ts'

interface TextObject {
  type: string
  text: string
  verbatim?: boolean
  emoji?: boolean
}

/** Every text object of a message, however deep. */
function textsIn(value: unknown): TextObject[] {
  if (typeof value !== 'object' || value === null) return []
  const { type, text } = value as Partial<TextObject>
  const isText = (type === 'plain_text' || type === 'mrkdwn') && typeof text === 'string'
  return isText ? [value as TextObject] : Object.values(value).flatMap(textsIn)
}

function blocksOf(message: Message) {
  return slackMessage(contentOf(message, publicUrl)).blocks as { type: string; [key: string]: unknown }[]
}

const { 'regression.dismissed': _, ...told } = messages

describe('A Slack message', () => {
  test('a Slack message says in short what happened, with buttons for change, pull request and dismissal', async () => {
    const receiver = await startReceiver()
    const send = createSendMessage(channelContext())
    const attempt = await send(targetOf('slack', `${receiver.url}services/T0/B0/x`), 'msg_1', openedMessage)
    assert.deepEqual(attempt, { outcome: 'sent', status: 200, response: 'ok', error: null })
    const { path, headers, body } = receiver.received[0] ?? assert.fail('nothing was received')
    assert.deepEqual([path, headers['content-type']], ['/services/T0/B0/x', 'application/json'])
    assert.deepEqual(JSON.parse(body), {
      text: '“support/refund-reply” got worse with pull request #42',
      unfurl_links: false,
      unfurl_media: false,
      blocks: [
        {
          type: 'header',
          text: { type: 'plain_text', text: '“support/refund-reply” got worse with pull request #42', emoji: false },
        },
        {
          type: 'section',
          fields: [
            { type: 'mrkdwn', text: '*Change*\n#42 Shorten the refund reply', verbatim: true },
            { type: 'mrkdwn', text: '*Author*\nAda Lovelace', verbatim: true },
            { type: 'mrkdwn', text: '*Live since*\n2026-11-12 16:05 UTC', verbatim: true },
          ],
        },
        {
          type: 'section',
          text: {
            type: 'mrkdwn',
            text: '*support/refund-reply*\n85% → 60% (1,204 and 310 signals; between 21 and 29 points lower)',
            verbatim: true,
          },
        },
        { type: 'context', elements: [{ type: 'plain_text', text: toldPrompt.explanation, emoji: false }] },
        {
          type: 'section',
          text: {
            type: 'plain_text',
            text: 'The newest negative comments:\n“It did not tell me when I get my money back”\n“Asked for the order number twice”\n“too short, felt rude”',
            emoji: false,
          },
        },
        {
          type: 'actions',
          elements: [
            ['See the change', `${publicUrl}/prompts/pmt_5mVq2Xc8Rj0LwTz7Kb4NyHdA?entry=1042`],
            ['Pull request #42', 'https://github.com/acme/prompts/pull/42'],
            ['Undo', `${publicUrl}/prompts/pmt_5mVq2Xc8Rj0LwTz7Kb4NyHdA/regressions/7?undo`],
            ['Dismiss', `${publicUrl}/prompts/pmt_5mVq2Xc8Rj0LwTz7Kb4NyHdA/regressions/7`],
          ].map(([text, url]) => ({ type: 'button', text: { type: 'plain_text', text, emoji: false }, url })),
        },
      ],
    })
  })

  test('no field of a Slack message can mention people or add links', () => {
    const hostile =
      '<!channel> <!here> <@U123> <#C1> <https://evil.example|click> & &lt; *b* ```x``` @here https://evil.example\r\n> x'
    for (const message of messagesWith(hostile)) {
      const { text, blocks } = slackMessage(contentOf(message, publicUrl))
      const parsed = [{ type: 'mrkdwn', text, verbatim: true }, ...textsIn(blocks)].filter(
        ({ type }) => type === 'mrkdwn',
      )
      for (const { text, verbatim } of parsed) {
        assert.doesNotMatch(text, /[<>]|&(?!amp;|lt;|gt;)/, message.event)
        assert.equal(verbatim, true)
        assert.ok(text.replaceAll(/\n• /g, '').split('\n').length <= 2, 'a field added a line')
      }
      for (const { text, emoji } of textsIn(blocks).filter(({ type }) => type === 'plain_text')) {
        assert.equal(emoji, false)
        assert.doesNotMatch(text, /\r/)
      }
      const urls = blocks.flatMap((block) => ('elements' in block ? block.elements : [])) as { url?: string }[]
      for (const { url } of urls) assert.ok(url === undefined || url.startsWith(publicUrl), url)
    }
  })

  test('a Slack message links only to pull requests that a browser should open', () => {
    for (const prUrl of ['javascript:alert(1)', 'data:text/html,x', 'not a URL']) {
      const message = { ...openedMessage, change: { ...openedMessage.change, prUrl } }
      const labels = textsIn(blocksOf(message).at(-1)).map(({ text }) => text)
      assert.deepEqual(labels, ['See the change', 'Undo', 'Dismiss'], prUrl)
    }
  })

  test('a Slack message stays within the limits of Block Kit, however long the fields are', () => {
    const long = [...messagesWith('🙂long '.repeat(5_000)), ...messagesWith('&'.repeat(5_000))]
    const url = `https://git.example/${'é'.repeat(900)}`
    const longUrl = { ...openedMessage, change: { ...openedMessage.change, prUrl: url } }
    const many = { ...openedMessage, prompts: Array.from({ length: 400 }, () => toldPrompt) }
    const empty = messagesWith('')
    for (const message of [...long, ...empty, longUrl, many, ...Object.values(told)]) {
      const blocks = blocksOf(message)
      assert.ok(blocks.length <= 50)
      for (const block of blocks) {
        const limit = block.type === 'header' ? 150 : block.type === 'section' && block.fields ? 2_000 : 3_000
        for (const { text } of textsIn(block)) {
          assert.ok(text.length >= 1 && text.length <= limit && text.isWellFormed(), `${message.event} ${block.type}`)
        }
        if (Array.isArray(block.fields)) assert.ok(block.fields.length <= 10)
        if (block.type === 'actions') {
          for (const { url, text } of block.elements as { url: string; text: TextObject }[]) {
            assert.ok(url.length <= 3_000 && text.text.length <= 75)
          }
        }
      }
      assert.ok(JSON.stringify(blocks).length < 30_000)
    }
    const labels = textsIn(blocksOf(many)).map(({ text }) => text)
    assert.ok(labels.includes('And 397 more.'))
    assert.ok(!labels.includes('Dismiss'), 'several prompts cannot be dismissed with one click')
  })

  test('a response that repeats the secret URL is shown without it', async () => {
    const receiver = await startReceiver((response, { url }) => response.writeHead(500).end(`Cannot POST ${url} now`))
    const send = createSendMessage(channelContext())
    const { response, error } = await send(
      targetOf('slack', `${receiver.url}services/T0/B0/secret`),
      'msg_1',
      openedMessage,
    )
    assert.equal(response, 'Cannot POST … now')
    assert.doesNotMatch(error ?? '', /secret/)
    // In another encoding, too.
    const secret = 'TzZkYXo4Qm1ZcE9rM2RWdw'
    const encodings = [JSON.stringify, (text: string) => text.replaceAll('/', '\\/'), btoa, encodeURIComponent]
    for (const encode of encodings) {
      receiver.respondWith((response, { url }) => response.writeHead(500).end(`no ${encode(String(url))} here`))
      const repeated = await send(targetOf('slack', `${receiver.url}services/T0/B0/${secret}`), 'msg_1', openedMessage)
      assert.match(repeated.response ?? '', /^no "?…"? here$/)
    }
  })

  test('the response of Slack decides whether a message is sent again', async () => {
    const receiver = await startReceiver()
    const send = createSendMessage(channelContext())
    const attemptWith = (status: number, text: string) => {
      receiver.respondWith((response) => response.writeHead(status, { 'retry-after': '30' }).end(text))
      return send(targetOf('slack', receiver.url), 'msg_1', openedMessage)
    }
    const outcomes: [number, string, string][] = [
      [200, 'ok', 'sent'],
      [400, 'invalid_payload', 'rejected'],
      [403, 'action_prohibited', 'rejected'],
      [403, 'invalid_token', 'rejected'],
      [404, 'no_service', 'gone'],
      [404, 'channel_not_found', 'gone'],
      [410, 'channel_is_archived', 'gone'],
      [404, '<html>proxy</html>', 'retry'],
      [500, 'rollup_error', 'retry'],
    ]
    for (const [status, text, outcome] of outcomes) {
      const attempt = await attemptWith(status, text)
      assert.deepEqual([attempt.outcome, attempt.status, attempt.response], [outcome, status, text])
      assert.equal(attempt.error === null, outcome === 'sent')
    }
    const limited = await attemptWith(429, 'rate_limited')
    assert.deepEqual([limited.outcome, limited.retryAfterMs], ['retry', 30_000])
  })

  describe('with a bot token', () => {
    const token = 'xoxb-1-2-abcdefghijkl'
    // As documented for users.lookupByEmail.
    const found = { ok: true, user: { id: 'W012A3CDE', team_id: 'T012AB3C4', name: 'ada', deleted: false } }

    async function openWorkspace(answer: unknown) {
      const hook = await startReceiver()
      const api = await startReceiver((response) => response.end(JSON.stringify(answer)))
      const time = { now: 0 }
      const context = channelContext({ slackApiUrl: `${api.url}api`, clock: () => time.now })
      const send = createSendMessage(context)
      const tell = async (message: Message = openedMessage) => {
        const attempt = await send(targetOf('slack', hook.url, [token]), 'msg_1', message)
        assert.equal(attempt.outcome, 'sent')
        return { attempt, body: hook.received.at(-1)?.body ?? '' }
      }
      return { api, tell, time }
    }

    test('a Slack message mentions the owner by their email address, and asks Slack once a day', async () => {
      const { api, tell, time } = await openWorkspace(found)
      const { attempt, body } = await tell()
      assert.equal(attempt.error, null)
      assert.ok(body.includes('*Owner*\\n<@W012A3CDE>'), body)
      const [request] = api.received
      assert.deepEqual(
        [request?.method, request?.path, request?.headers.authorization],
        ['GET', '/api/users.lookupByEmail?email=ada%40example.com', `Bearer ${token}`],
      )
      await tell()
      assert.equal(api.received.length, 1)
      time.now += 25 * 3_600_000
      await tell()
      assert.equal(api.received.length, 2)
      // What is over interrupts no one.
      assert.ok(!(await tell(messages['regression.repaired'])).body.includes('<@'))
    })

    test('a Slack message is sent without a mention if Slack does not know the owner, fails, or responds with something else', async () => {
      const answers: [unknown, RegExp | null][] = [
        [{ ok: false, error: 'users_not_found' }, null],
        [{ ok: false, error: 'ratelimited' }, null],
        [{ ok: false, error: 'missing_scope', needed: 'users:read.email' }, /lacks the scope users:read\.email/],
        [{ ok: false, error: 'invalid_auth' }, /does not accept its token/],
        [{ ok: false, error: 'constructor' }, null],
        [{ ok: true, user: { ...found.user, deleted: true } }, null],
        [{ ok: true, user: { id: '!channel' } }, null],
        [{ ok: true, user: { id: 'U1> <!channel' } }, null],
        [null, null],
        ['<html>', null],
      ]
      for (const [answer, problem] of answers) {
        const { api, tell } = await openWorkspace(answer)
        const { attempt, body } = await tell()
        assert.ok(!/<[@!]/.test(body), body)
        if (problem === null) assert.equal(attempt.error, null, JSON.stringify(answer))
        else assert.match(attempt.error ?? '', problem)
        // A failure is remembered too.
        await tell()
        assert.equal(api.received.length, 1)
      }
    })
  })
})
