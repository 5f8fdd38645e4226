import { createHmac } from 'node:crypto'
import { operator } from '../server/src/domain/access/audit.ts'
import { type AddedSource, addSource as add } from '../server/src/domain/sources/manage-source.ts'
import type { AdapterName, SourceSettings } from '../server/src/domain/sources/source.ts'
import { noSettings } from '../server/src/domain/sources/source.ts'
import type { TestService } from './service.ts'

/** Where the example of a generic webhook has its fields. */
export const webhookFields: SourceSettings['fields'] = {
  id: '$.id',
  prompt: '$.prompt',
  value: '$.rating',
  subject: '$.message_id',
  voter: '$.user',
  comment: '$.comment',
}

/** Adds a source through the domain. Its secret is `secret`, whether the product would have generated it or not. */
export function addSource(
  { store, syncContext, now }: Pick<TestService, 'store' | 'syncContext' | 'now'>,
  organisationId: number,
  adapter: AdapterName = 'webhook',
  settings: Partial<SourceSettings> = {},
): Promise<AddedSource> {
  const context = { sources: store.sources, vault: syncContext.vault, clock: () => now }
  const fields = adapter === 'webhook' ? webhookFields : {}
  const baseUrl = adapter === 'langfuse' ? 'https://langfuse.example' : null
  return add(
    context,
    { organisationId, name: 'Chat', adapter, secret, settings: { ...noSettings, fields, baseUrl, ...settings } },
    operator,
  )
}

export const secret = 'the-secret-of-a-source'

/** The headers with which a product proves that it sent the body at `now`. */
export function signedHeaders(
  adapter: AdapterName,
  body: string | Buffer,
  now: number,
  key = secret,
): Record<string, string> {
  const mac = (algorithm: string, text: string | Buffer) => createHmac(algorithm, key).update(text)
  const seconds = String(Math.floor(now / 1_000))
  switch (adapter) {
    case 'slack':
      return {
        'x-slack-request-timestamp': seconds,
        'x-slack-signature': `v0=${mac('sha256', `v0:${seconds}:${body}`).digest('hex')}`,
      }
    case 'zendesk': {
      const time = new Date(now).toISOString()
      return {
        'x-zendesk-webhook-signature-timestamp': time,
        'x-zendesk-webhook-signature': mac('sha256', `${time}${body}`).digest('base64'),
      }
    }
    case 'intercom':
      return { 'x-hub-signature': `sha1=${mac('sha1', body).digest('hex')}` }
    case 'langsmith':
    case 'posthog':
      return { authorization: `Bearer ${key}` }
    default:
      return { 'x-promptledger-signature': `sha256=${mac('sha256', body).digest('hex')}` }
  }
}
