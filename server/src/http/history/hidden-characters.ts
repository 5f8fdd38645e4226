import type { FromSchema } from 'json-schema-to-ts'
import { hiddenKinds } from '../../domain/hidden-text.ts'
import type { EntryDetails } from '../../domain/history/entry.ts'
import { compareHidden, type HiddenStatus, hiddenStatus } from '../../domain/history/hidden-characters.ts'
import type { Contents } from '../../domain/repositories/repository-service.ts'

const status = {
  present: { type: 'boolean', description: "Whether the prompt's text contains hidden characters after the change" },
  added: { type: 'boolean', description: 'Whether this change added some of them' },
} as const

export const hiddenStatusSchema = {
  anyOf: [
    { type: 'object', required: ['present', 'added'], properties: status, additionalProperties: false },
    { type: 'null' },
  ],
  description:
    'Hidden characters, such as bidirectional controls and Unicode tags; null if the text has not been checked or is unavailable',
} as const

const kind = { enum: hiddenKinds } as const

export const hiddenCharactersSchema = {
  anyOf: [
    {
      type: 'object',
      required: ['present', 'added', 'count', 'added_count', 'kinds', 'positions'],
      properties: {
        ...status,
        count: { type: 'integer', description: 'Hidden characters in the text after the change' },
        added_count: { type: 'integer', description: 'How many of them this change added' },
        kinds: {
          type: 'array',
          description: 'The same by kind',
          items: {
            type: 'object',
            required: ['kind', 'count', 'added_count'],
            properties: { kind, count: { type: 'integer' }, added_count: { type: 'integer' } },
            additionalProperties: false,
          },
        },
        positions: {
          type: 'array',
          description: 'Up to 100 runs of hidden characters in the text after the change',
          items: {
            type: 'object',
            required: ['line', 'column', 'kind', 'length', 'label', 'added'],
            properties: {
              line: { type: 'integer', description: 'From 1' },
              column: { type: 'integer', description: 'From 1, in characters' },
              kind,
              length: { type: 'integer', description: 'Number of adjacent hidden characters' },
              label: { type: 'string', description: 'Such as `U+202E RLO`, or the text that Unicode tags spell' },
              added: { type: 'boolean', description: 'Whether this change added them' },
            },
            additionalProperties: false,
          },
        },
      },
      additionalProperties: false,
    },
    { type: 'null' },
  ],
  description: "Hidden characters in the prompt's text; null if the text is unavailable or a text exceeds 2 MiB",
} as const

export function toHiddenStatusBody(status: HiddenStatus): { present: boolean; added: boolean } {
  return { present: status !== 'none', added: status === 'added' }
}

const maxSearchedLength = 2 * 1024 * 1024

/** Null if the text after the change is unknown or too long. A deleted prompt has no hidden characters. */
export function toHiddenCharactersBody(
  { path, afterBlob, hiddenCharacters }: EntryDetails,
  { before, after }: Pick<Contents, 'before' | 'after'>,
): FromSchema<typeof hiddenCharactersSchema> {
  const isDeleted = path !== null && afterBlob === null
  if (after === null && !isDeleted) return null
  // Searching a large text would delay other requests.
  if (Math.max(before?.length ?? 0, after?.length ?? 0) > maxSearchedLength) return null
  // Skip the search if an earlier one found nothing.
  const found = hiddenCharacters === 'none' ? compareHidden('', '') : compareHidden(before ?? '', after ?? '')
  return {
    ...toHiddenStatusBody(hiddenStatus(found)),
    count: found.count,
    added_count: found.added,
    kinds: found.kinds.map(({ kind, count, added }) => ({ kind, count, added_count: added })),
    positions: found.positions,
  }
}
