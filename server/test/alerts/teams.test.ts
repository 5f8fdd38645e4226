import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { messages, messagesWith, openedMessage, toldPrompt } from '../../../testing/alert-messages.ts'
import { startReceiver } from '../../../testing/receiver.ts'
import { createSendMessage } from '../../src/alerts/send.ts'
import { teamsMessage } from '../../src/alerts/teams.ts'
import { contentOf } from '../../src/alerts/text.ts'
import { channelContext, publicUrl, targetOf } from './channel-context.ts'

/** The objects of a card that have a type, however deep. */
function elementsIn(value: unknown): { type: string; [key: string]: unknown }[] {
  if (typeof value !== 'object' || value === null) return []
  const own = typeof (value as { type?: unknown }).type === 'string' ? [value as { type: string }] : []
  return [...own, ...Object.values(value).flatMap(elementsIn)]
}

describe('A Teams message', () => {
  test('a Teams message is a card that says what happened, with links to the change, the pull request and the dismissal', async () => {
    const receiver = await startReceiver((response) => response.writeHead(202).end())
    const send = createSendMessage(channelContext())
    const attempt = await send(targetOf('teams', `${receiver.url}workflows/x`), 'msg_1', openedMessage)
    assert.deepEqual(attempt, { outcome: 'sent', status: 202, response: null, error: null })
    const { type, attachments } = JSON.parse(receiver.received[0]?.body ?? '')
    assert.deepEqual([type, attachments.length], ['message', 1])
    assert.equal(attachments[0].contentType, 'application/vnd.microsoft.card.adaptive')
    const card = attachments[0].content
    assert.deepEqual([card.type, card.version], ['AdaptiveCard', '1.4'])
    const text = card.body.map(({ inlines }: { inlines: { text: string }[] }) =>
      inlines.map((run) => run.text).join(''),
    )
    assert.deepEqual(text.slice(0, 5), [
      '“support/refund-reply” got worse with pull request #42',
      'Change: #42 Shorten the refund reply',
      'Author: Ada Lovelace',
      'Live since: 2026-11-12 16:05 UTC',
      'support/refund-reply 85% → 60% (1,204 and 310 signals; between 21 and 29 points lower)',
    ])
    assert.deepEqual(
      card.actions.map(({ title }: { title: string }) => title),
      ['See the change', 'Pull request #42', 'Undo', 'Dismiss'],
    )
  })

  test('text of others has no markup in a Teams message, whatever it contains', () => {
    const hostile = '<at>everyone</at> [click](https://evil.example) **b** https://evil.example'
    for (const message of [...messagesWith(hostile), ...Object.values(messages)]) {
      const elements = elementsIn(teamsMessage(contentOf(message, publicUrl)).attachments)
      const kinds = new Set(elements.map(({ type }) => type))
      assert.deepEqual(
        [...kinds].filter((kind) => !['AdaptiveCard', 'RichTextBlock', 'TextRun', 'Action.OpenUrl'].includes(kind)),
        [],
        'a text block would read Markdown, and entities would mention people',
      )
      for (const { type, url } of elements) if (type === 'TextRun') assert.equal(url, undefined)
    }
  })

  test('a Teams message stays below 28 KB, however long the fields are', () => {
    const many = { ...openedMessage, prompts: Array.from({ length: 400 }, () => toldPrompt) }
    for (const message of [...messagesWith('🙂long '.repeat(5_000)), many]) {
      const bytes = Buffer.byteLength(JSON.stringify(teamsMessage(contentOf(message, publicUrl))))
      assert.ok(bytes < 28_000, `${message.event} has ${bytes}`)
    }
  })

  test('a workflow that is gone disables the alert, and a limit is retried', async () => {
    const receiver = await startReceiver()
    const send = createSendMessage(channelContext())
    const outcomes: Record<number, string> = { 404: 'gone', 410: 'gone', 429: 'retry', 400: 'rejected', 502: 'retry' }
    for (const [status, outcome] of Object.entries(outcomes)) {
      receiver.respondWith((response) => response.writeHead(Number(status)).end())
      const attempt = await send(targetOf('teams', receiver.url), 'msg_1', openedMessage)
      assert.equal(attempt.outcome, outcome, status)
    }
  })
})
