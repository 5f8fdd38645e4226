import { randomUUID } from 'node:crypto'
import { tokens } from '../../../client/src/resources/tokens.ts'
import type { Shop } from './shop.ts'

/** The part of the shop's own server that signs tokens, each for another answer and customer. */
export function createApplication({ signingKey, prompts: [asked] }: Shop) {
  if (asked === undefined) throw new Error('The shop has no prompts')
  const { publicId: prompt, changes } = asked
  const { sign } = tokens(signingKey)
  const version = changes[0]?.impact.entry.commitSha
  return {
    prompt,
    sign: () => sign({ prompt, version, subject: `demo-${randomUUID()}`, voter: randomUUID() }),
  }
}
