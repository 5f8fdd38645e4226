import type { Erasure } from '@promptledger/client'

export type Selection = 'voter' | 'subject' | 'metadata'

export const selections: Record<Selection, { label: string; hint: string; placeholder: string }> = {
  voter: {
    label: 'Voter',
    hint: 'Who voted, exactly as your application sent it. Only its hash is stored.',
    placeholder: 'u-123',
  },
  subject: {
    label: 'Subject',
    hint: 'What was voted on, exactly as your application sent it. Withdrawn votes are erased too.',
    placeholder: 'answer-42',
  },
  metadata: {
    label: 'Metadata',
    hint: 'A JSON object. Signals whose metadata has all of its members with equal values match.',
    placeholder: '{"user": "u-123"}',
  },
}

/** The body of the request, or a text that says what is wrong with what was entered. */
export function erasureOf(selection: Selection, text: string): Erasure | string {
  if (selection !== 'metadata') return { [selection]: text }
  const parsed = parseObject(text)
  if (parsed === null) return 'Metadata must be a JSON object, such as {"user": "u-123"}.'
  // JavaScript would round it, and then erase other signals or none.
  if (/\d{16}/.test(text.replaceAll(/"(?:[^"\\]|\\.)*"/g, ''))) {
    return 'Numbers of more than 15 digits can only be sent with the API: POST /api/v1/signals/erase.'
  }
  return { metadata: parsed }
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null
  } catch {
    return null
  }
}
