import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { messages, messagesWith, openedMessage, toldPrompt } from '../../../testing/alert-messages.ts'
import { startReceiver } from '../../../testing/receiver.ts'
import { discordMessage } from '../../src/alerts/discord.ts'
import { createSendMessage } from '../../src/alerts/send.ts'
import { contentOf } from '../../src/alerts/text.ts'
import type { Message } from '../../src/domain/alerts/message.ts'
import { channelContext, publicUrl, targetOf } from './channel-context.ts'

function embedOf(message: Message) {
  const [embed] = discordMessage(contentOf(message, publicUrl)).embeds
  return embed ?? assert.fail('there is no embed')
}

describe('A Discord message', () => {
  test('a Discord message is one embed that says what happened, and mentions no one', async () => {
    const receiver = await startReceiver((response) => response.writeHead(204).end())
    const send = createSendMessage(channelContext())
    const attempt = await send(targetOf('discord', `${receiver.url}api/webhooks/1/x`), 'msg_1', openedMessage)
    assert.deepEqual(attempt, { outcome: 'sent', status: 204, response: null, error: null })
    const { allowed_mentions, embeds } = JSON.parse(receiver.received[0]?.body ?? '')
    assert.deepEqual(allowed_mentions, { parse: [] })
    assert.equal(embeds.length, 1)
    assert.equal(embeds[0].title, '“support/refund\\-reply” got worse with pull request \\#42')
    assert.deepEqual(embeds[0].fields[1], { name: 'Author', value: 'Ada Lovelace', inline: true })
    assert.match(embeds[0].description, /^\*\*support\/refund\\-reply\*\* 85% → 60% \(1,204 and 310 signals/)
    assert.match(embeds[0].description, /\[See the change\]\(<https:\/\/ledger\.example\.com\/prompts\/pmt_/)
  })

  test('no field of a Discord message can add markup, links or mentions', () => {
    const hostile = '@everyone <@1> <#2> <t:1> [click](https://evil.example) **b** `x` ||s|| https://evil.example'
    for (const message of messagesWith(hostile)) {
      const { title, description, fields } = embedOf(message)
      const texts = [title, ...fields.map(({ value }) => value), description.split('\n[')[0] ?? '']
      for (const text of texts) {
        assert.doesNotMatch(text.replaceAll(/\\./g, ''), /@everyone|<[@#t]|\]\(|https:|`|\|\|/, message.event)
      }
    }
  })

  test('a Discord message stays within the limits of embeds, however long the fields are', () => {
    const many = { ...openedMessage, prompts: Array.from({ length: 400 }, () => toldPrompt) }
    for (const message of [...messagesWith('*long '.repeat(5_000)), many, ...Object.values(messages)]) {
      const { title, description, fields } = embedOf(message)
      assert.ok(title.length <= 256 && description.length <= 4_096 && fields.length <= 25)
      for (const { name, value } of fields) assert.ok(name.length <= 256 && value.length <= 1_024 && value !== '')
      const all = [title, description, ...fields.flatMap(({ name, value }) => [name, value])]
      assert.ok(all.join('').length <= 6_000, message.event)
    }
  })

  test('a webhook that was deleted disables the alert, and a limit is retried as long as Discord asks', async () => {
    const receiver = await startReceiver((response) => response.writeHead(404).end('{"code":10015}'))
    const send = createSendMessage(channelContext())
    assert.equal((await send(targetOf('discord', receiver.url), 'msg_1', openedMessage)).outcome, 'gone')
    receiver.respondWith((response) => response.writeHead(429, { 'retry-after': '7' }).end())
    const limited = await send(targetOf('discord', receiver.url), 'msg_1', openedMessage)
    assert.deepEqual([limited.outcome, limited.retryAfterMs], ['retry', 7_000])
  })
})
