import { newHistoryEntrySchema } from '../../../contract/history.ts'
import { type ImportedSignal, importedSignalSchema } from '../../../contract/signals.ts'
import { invalidField } from '../domain/errors.ts'
import type { NewHistoryEntry } from '../domain/history/entry.ts'
import type { Prompt } from '../domain/prompt.ts'
import { type HashVoter, validComment, validLabel } from '../domain/signals/details.ts'
import { memberText } from '../domain/signals/json-text.ts'
import { type NewSignal, type SignalDetails, validMetadata } from '../domain/signals/signal.ts'
import { labelledVersion, type VersionText, validVersion } from '../domain/signals/version.ts'
import { type Instant, parseTime } from '../domain/time.ts'
import { parseHistoryEntry } from '../http/history/body.ts'
import { parseObject } from '../http/json-bodies.ts'
import { createSchemaChecker } from '../http/validate.ts'

const checkEntry = createSchemaChecker(newHistoryEntrySchema)
const checkSignal = createSchemaChecker(importedSignalSchema)
const voterHash = /^[0-9A-Za-z_-]{43}$/

export function parseEntryLine(text: string): NewHistoryEntry {
  return parseHistoryEntry(checkEntry(parseObject('the text', text)))
}

/** `hashVoter` is called only for a line with a voter, because it needs the secret key. Null: the voters are hashes already. */
export async function parseSignalLine(text: string, prompt: Prompt, hashVoter: HashVoter | null): Promise<NewSignal> {
  const line = checkSignal(parseObject('the text', text))
  const { value, metadata, created_at } = line
  const createdAt = parseTime('created_at', created_at)
  const details = parseDetails(line, createdAt)
  return {
    organisationId: prompt.organisationId,
    promptId: prompt.id,
    value,
    metadata: metadata == null ? null : validMetadata(memberText(text, 'metadata') as string),
    createdAt,
    details: { ...details, voter: await parseVoter(line, hashVoter) },
  }
}

async function parseVoter(line: ImportedSignal, hashVoter: HashVoter | null): Promise<string | null> {
  if (line.voter == null) return null
  const voter = validLabel('voter', line.voter)
  const isHash = voterHash.test(voter)
  if (hashVoter === null) {
    if (!isHash) throw invalidField('voter', 'must be a hash of 43 characters, as in an export')
    return voter
  }
  // Hashed once more, it could not be found by the name of the voter.
  if (isHash && 'id' in line) throw invalidField('voter', 'is a hash, like those of an export. Use --hashed-voters')
  return hashVoter(voter)
}

function parseDetails(line: ImportedSignal, createdAt: Instant): Omit<SignalDetails, 'voter'> {
  const { version, subject, comment, occurred_at, trace_id } = line
  const occurredAt = occurred_at == null ? createdAt : parseTime('occurred_at', occurred_at)
  // A vote that was replaced keeps the time at which the first one arrived.
  if (subject == null && occurredAt > createdAt) throw invalidField('occurredAt', 'must not be later than created_at')
  return {
    version: version == null ? null : parseVersion(version),
    subject: subject == null ? null : validLabel('subject', subject),
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
