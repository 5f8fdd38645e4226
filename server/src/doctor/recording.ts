import { randomBase62 } from '../domain/random.ts'
import type { SignalToRecord } from '../domain/signals/signal.ts'
import type { Clock } from '../domain/time.ts'
import type { Row } from '../store/sql/database.ts'
import type { DatabaseReader } from './database.ts'
import { type Finding, fail, ok, plural, reasonOf } from './finding.ts'

/** Records signals as the service does, with every statement that it uses, and stores none of them. */
export async function checkRecording(database: DatabaseReader, clock: Clock): Promise<Finding> {
  const prompts = await database.promptsToTry()
  if (prompts.length === 0) return ok('recording', 'not tried, because there is no prompt')
  for (const prompt of prompts) {
    try {
      await database.tryRecording(signalsFor(prompt, clock()))
    } catch (error) {
      const message = `a signal of organisation ${prompt.organisation_id} cannot be recorded: ${reasonOf(error)}`
      return fail(
        'recording',
        message,
        'Until that works, every signal of it is answered with 500: see the findings above',
      )
    }
  }
  return ok('recording', `tried for ${plural(prompts.length, 'prompt')} and rolled back`)
}

/** A plain signal, and a vote with everything that a request may say. */
function signalsFor({ organisation_id, id }: Row, createdAt: number): SignalToRecord[] {
  const plain: SignalToRecord = {
    organisationId: organisation_id as number,
    promptId: id as number,
    value: 'positive',
    metadata: '{}',
    createdAt,
    limit: null,
    idempotency: null,
  }
  const [name, text] = [randomBase62(20), 'promptledger doctor']
  const details = { version: null, subject: name, voter: text, comment: text, occurredAt: null, traceId: null }
  return [plain, { ...plain, details, idempotency: { key: name, fingerprint: text } }]
}
