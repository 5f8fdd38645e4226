import type { NewHistoryEntry } from '../domain/history/entry.ts'
import type { Prompt } from '../domain/prompt.ts'
import { memberText } from '../domain/signals/json-text.ts'
import { type NewSignal, validMetadata } from '../domain/signals/signal.ts'
import { parseTime } from '../domain/time.ts'
import { parseHistoryEntry } from '../http/history/body.ts'
import { newHistoryEntrySchema } from '../http/history/schema.ts'
import { parseObject } from '../http/json-bodies.ts'
import { importedSignalSchema } from '../http/signals/schema.ts'
import { createSchemaChecker } from '../http/validate.ts'

const checkEntry = createSchemaChecker(newHistoryEntrySchema)
const checkSignal = createSchemaChecker(importedSignalSchema)

export function parseEntryLine(text: string): NewHistoryEntry {
  return parseHistoryEntry(checkEntry(parseObject('the text', text)))
}

export function parseSignalLine(text: string, prompt: Prompt): NewSignal {
  const { value, metadata, created_at } = checkSignal(parseObject('the text', text))
  return {
    organisationId: prompt.organisationId,
    promptId: prompt.id,
    value,
    metadata: metadata == null ? null : validMetadata(memberText(text, 'metadata') as string),
    createdAt: parseTime('created_at', created_at),
  }
}
