import type { AuditEntry } from '@promptledger/client'
import { formatNumber } from '../ui/number.ts'
import { UntrustedText } from '../ui/untrusted-text.tsx'

/** The names of details that do not read well as they are. Others lose their underscores. */
const names: Record<string, string> = {
  briefs_pulls: 'briefs reviewers',
  commit_sha: 'commit',
  count: 'times',
  entries: 'entries',
  entry_id: 'entry',
  erased: 'signals erased',
  new_key_id: 'new key',
  old_secret_until: 'old secret valid until',
  prompt_id: 'prompt',
  proposes_reverts: 'proposes reverts',
  regression_id: 'regression',
  repository_id: 'repository',
  reports_on_pulls: 'reports on pull requests',
  ssh_host_key: 'SSH host key',
  ssh_key: 'SSH key',
  url: 'URL',
}

type Details = NonNullable<AuditEntry['details']>

/** The details of an entry in words: what replaced what, then name and value of each other detail. */
export function AuditDetails({ details }: { details: AuditEntry['details'] }) {
  if (details === null) return null
  const { from, to, ...others } = details as Details & { from?: unknown; to?: unknown }
  const rest = Object.entries(others)
  return (
    <>
      {from !== undefined && (
        <p className="audit-change">
          <del>
            <Value value={from} />
          </del>
          {to !== undefined && (
            <>
              <span aria-hidden="true"> → </span>
              <span className="visually-hidden"> became </span>
              <ins>
                <Value value={to} />
              </ins>
            </>
          )}
        </p>
      )}
      {rest.length > 0 && (
        <dl className="audit-details">
          {rest.map(([name, value]) => (
            <div key={name}>
              <dt>
                <UntrustedText text={nameOf(name)} />
              </dt>
              <dd>{name.endsWith('_id') ? <UntrustedText text={String(value)} /> : <Value value={value} />}</dd>
            </div>
          ))}
        </dl>
      )}
    </>
  )
}

function nameOf(name: string): string {
  return Object.hasOwn(names, name) ? (names[name] as string) : name.replaceAll('_', ' ')
}

function Value({ value }: { value: unknown }) {
  if (typeof value === 'number') return formatNumber(value)
  return <UntrustedText text={typeof value === 'string' ? value : JSON.stringify(value)} />
}
