import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { messages } from '../../../testing/alert-messages.ts'
import { startReceiver } from '../../../testing/receiver.ts'
import { createSendMessage } from '../../src/alerts/send.ts'
import { webhookBody } from '../../src/alerts/webhook-body.ts'
import { generateWebhookSecret } from '../../src/alerts/webhook-secret.ts'
import { channelContext, publicUrl, targetOf } from './channel-context.ts'

describe('A CloudEvent', () => {
  test('every event has the attributes that CloudEvents 1.0 requires, the data of a webhook, and its signature', async () => {
    const receiver = await startReceiver((response) => response.writeHead(204).end())
    const secret = generateWebhookSecret()
    const send = createSendMessage(channelContext())
    const { 'regression.dismissed': _, ...told } = messages
    for (const message of Object.values(told)) {
      const attempt = await send(targetOf('cloudevents', receiver.url, [secret]), 'msg_1', message)
      assert.equal(attempt.outcome, 'sent')
      const { headers, body } = receiver.received.at(-1) ?? assert.fail('nothing was received')
      assert.equal(headers['content-type'], 'application/cloudevents+json')
      const event = new Webhook(secret).verify(body, headers as Record<string, string>) as Record<string, unknown>
      const { data, timestamp } = JSON.parse(JSON.stringify(webhookBody(message, publicUrl)))
      const [prompt] = 'prompts' in message ? message.prompts : []
      assert.deepEqual(event, {
        specversion: '1.0',
        id: 'msg_1',
        source: publicUrl,
        type: `dev.promptledger.${message.event}`,
        time: timestamp,
        ...(prompt && { subject: prompt.prompt.publicId }),
        datacontenttype: 'application/json',
        data,
      })
    }
  })
})
