import type { NewHistoryEntry } from '../domain/history/entry.ts'
import type { Prompt } from '../domain/prompt.ts'
import { memberText } from '../domain/signals/json-text.ts'
import { checkMetadata, type NewSignal } from '../domain/signals/signal.ts'
import { parseTime } from '../domain/time.ts'
import { parseHistoryEntry } from '../http/history/body.ts'
import { newHistoryEntrySchema } from '../http/history/schema.ts'
import { parseObject } from '../http/json-bodies.ts'
import { importedSignalSchema } from '../http/signals/schema.ts'
import { checker } from '../http/validate.ts'

const checkEntry = checker(newHistoryEntrySchema)
const checkSignal = checker(importedSignalSchema)

/** The history entry that a line tells. */
export function parseEntry(text: string): NewHistoryEntry {
  return parseHistoryEntry(checkEntry(parseObject('the text', text)))
}

/** The signal that a line tells. */
export function parseSignal(text: string, prompt: Prompt): NewSignal {
  const { value, metadata, created_at } = checkSignal(parseObject('the text', text))
  return {
    organisationId: prompt.organisationId,
    promptId: prompt.id,
    value,
    metadata: metadata == null ? null : checkMetadata(memberText(text, 'metadata') as string),
    createdAt: parseTime('created_at', created_at),
  }
}
