import type { NewHistoryEntry } from '../domain/history.ts'
import { memberText } from '../domain/json-text.ts'
import type { Prompt } from '../domain/prompt.ts'
import { checkMetadata, type NewSignal } from '../domain/signal.ts'
import { parseTime } from '../domain/time.ts'
import { parseObject } from '../http/body.ts'
import { parseHistoryEntry } from '../http/history-body.ts'
import { newHistoryEntrySchema } from '../http/schemas/history.ts'
import { importedSignalSchema } from '../http/schemas/signal.ts'
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
