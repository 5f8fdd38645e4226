import { createHmac, randomBytes } from 'node:crypto'

const prefix = 'whsec_'

/** A secret as Standard Webhooks defines it: 24 to 64 random bytes in base64. */
export function generateWebhookSecret(): string {
  return prefix + randomBytes(32).toString('base64')
}

/** Signs with each secret: during a rotation, receivers that know either one accept the message. */
export function signaturesOf(secrets: string[], id: string, timestamp: number, body: string): string {
  return secrets.map((secret) => signature(secret, `${id}.${timestamp}.${body}`)).join(' ')
}

function signature(secret: string, content: string): string {
  const key = Buffer.from(secret.slice(prefix.length), 'base64')
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`
}
