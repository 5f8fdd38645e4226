import { invalidField } from '../domain/errors.ts'
import type { NewHistoryEntry } from '../domain/history/entry.ts'
import type { Prompt } from '../domain/prompt.ts'
import { validComment, validLabel } from '../domain/signals/details.ts'
import { memberText } from '../domain/signals/json-text.ts'
import { type NewSignal, type SignalDetails, validMetadata } from '../domain/signals/signal.ts'
import { labelledVersion, type VersionText, validVersion } from '../domain/signals/version.ts'
import { type Instant, parseTime } from '../domain/time.ts'
import { parseHistoryEntry } from '../http/history/body.ts'
import { newHistoryEntrySchema } from '../http/history/schema.ts'
import { parseObject } from '../http/json-bodies.ts'
import { type ImportedSignal, importedSignalSchema } from '../http/signals/schema.ts'
import { createSchemaChecker } from '../http/validate.ts'

const checkEntry = createSchemaChecker(newHistoryEntrySchema)
const checkSignal = createSchemaChecker(importedSignalSchema)

export function parseEntryLine(text: string): NewHistoryEntry {
  return parseHistoryEntry(checkEntry(parseObject('the text', text)))
}

/** `hashVoter` is called only for a line with a voter, because it needs the secret key. */
export async function parseSignalLine(
  text: string,
  prompt: Prompt,
  hashVoter: (voter: string) => Promise<string>,
): Promise<NewSignal> {
  const line = checkSignal(parseObject('the text', text))
  const { value, metadata, created_at, voter } = line
  const createdAt = parseTime('created_at', created_at)
  const details = parseDetails(line, createdAt)
  const voterHash = voter == null ? null : await hashVoter(validLabel('voter', voter))
  return {
    organisationId: prompt.organisationId,
    promptId: prompt.id,
    value,
    metadata: metadata == null ? null : validMetadata(memberText(text, 'metadata') as string),
    createdAt,
    details: { ...details, voter: voterHash },
  }
}

function parseDetails(line: ImportedSignal, createdAt: Instant): Omit<SignalDetails, 'voter'> {
  const { version, subject, comment, occurred_at, trace_id } = line
  // A later request would have to find and replace it, also within the same file.
  if (subject != null) throw invalidField('subject', 'cannot be imported. Record such votes through the API')
  const occurredAt = occurred_at == null ? createdAt : parseTime('occurred_at', occurred_at)
  if (occurredAt > createdAt) throw invalidField('occurredAt', 'must not be later than created_at')
  return {
    version: version == null ? null : parseVersion(version),
    subject: null,
    comment: comment == null || comment === '' ? null : validComment(comment),
    occurredAt: occurredAt === createdAt ? null : occurredAt,
    traceId: trace_id ?? null,
  }
}

/** As in an export: an integer is the ID of a history entry, and text a commit or a label. */
function parseVersion(version: string | number): VersionText {
  if (typeof version === 'number') return validVersion(version)
  const text = labelledVersion(version)
  if (text === null) throw invalidField('version', 'must be one line of 1 to 255 characters')
  return text
}
