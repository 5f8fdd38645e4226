import type { AuditEntry } from '@promptledger/client'
import { CopyField } from '../ui/copy-field.tsx'

/** How anyone can check that the log is complete. Only an operator can: the check reads the whole log. */
export function VerifyChain({ organisationId, newest }: { organisationId: number; newest: AuditEntry | undefined }) {
  const command = `promptledger audit verify --org ${organisationId}`
  const head = newest?.seq && newest.hash ? ` --head ${newest.seq}:${newest.hash}` : ''
  return (
    <section className="card audit-verify" aria-labelledby="verify">
      <h2 id="verify">Is the log complete?</h2>
      <p className="muted">
        Each entry contains the hash of the one before it, so a changed, missing or inserted entry breaks the chain. The
        operator checks the whole chain with this command. Keep a copy of it outside the service: a later check then
        also notices a log that was cut off or rewritten after today.
      </p>
      <CopyField label="Command that verifies the chain" value={command + head} />
    </section>
  )
}
