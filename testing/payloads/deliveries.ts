import { randomUUID } from 'node:crypto'
import { bitbucket } from './bitbucket.ts'
import type { Delivery, ForgeName, Message, PullFacts, PushFacts, Shape } from './facts.ts'
import { giteaFamily } from './gitea.ts'
import { github } from './github.ts'
import { gitlab } from './gitlab.ts'

export interface ForgeDeliveries {
  push(facts: PushFacts): Delivery
  pull(facts: PullFacts): Delivery
  ping(): Delivery
  signed(event: string, body: Buffer, deliveryId?: string): Delivery
}

/** Builds a forge's deliveries about the repository acme/prompts, signed with the secret. */
export function deliveriesFrom(forge: ForgeName, secret: string): ForgeDeliveries {
  const shape = shapes[forge]
  const signed = (event: string, body: Buffer, deliveryId: string = randomUUID()): Delivery => ({
    headers: { 'content-type': 'application/json', ...shape.headers(event, body, secret, deliveryId) },
    body,
  })
  const send = ({ event, body }: Message) => signed(event, Buffer.from(JSON.stringify(body)))
  return {
    push: (facts) => send(shape.push(facts)),
    pull: (facts) => send(shape.pull(facts)),
    ping: () => send(shape.ping()),
    signed,
  }
}

const shapes: Record<ForgeName, Shape> = {
  github,
  gitlab,
  gitea: giteaFamily('gitea'),
  forgejo: giteaFamily('forgejo'),
  bitbucket,
}
