import './audit.css'
import type { AuditEntry, AuditQuery } from '@promptledger/client'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { useCallback } from 'react'
import { ledger } from '../ledger.ts'
import { usePageTitle } from '../page-head.tsx'
import { CopyField } from '../ui/copy-field.tsx'
import { TimeField } from '../ui/iso-input.tsx'
import { pageFrom, type SetParams, useUrlParams } from '../url-params.ts'
import { actionGroups, isAction } from './actions.ts'
import { AuditTable } from './audit-table.tsx'

export function AuditPage({ organisationId }: { organisationId: number }) {
  usePageTitle('Audit log')
  const [params, setParams] = useUrlParams()
  const change: SetParams = useCallback(
    (changes, options) => setParams({ ...changes, page: null }, options),
    [setParams],
  )
  const filter = filterFrom(params)
  const page = pageFrom(params)
  const entries = useQuery({
    queryKey: ['audit', filter, page],
    queryFn: ({ signal }) => ledger.audit.list({ ...filter, page, limit: 50 }, { signal }),
    placeholderData: keepPreviousData,
  })
  const newest = useQuery({
    queryKey: ['audit', 'newest'],
    queryFn: ({ signal }) => ledger.audit.list({ limit: 1 }, { signal }),
  })
  return (
    <>
      <div className="page-head">
        <div>
          <h1>Audit log</h1>
          <p className="muted">Who changed what, and when. No entry can be edited or deleted.</p>
        </div>
      </div>
      <AuditFilter params={params} onChange={change} />
      <AuditTable query={entries} onActor={(actor) => change({ actor })} />
      <VerifyChain organisationId={organisationId} newest={newest.data?.data[0]} />
    </>
  )
}

function filterFrom(params: URLSearchParams): AuditQuery {
  const action = params.get('action')
  return {
    action: isAction(action) ? action : undefined,
    actor: params.get('actor') ?? undefined,
    person: Number(params.get('person')) || undefined,
    since: params.get('since') ?? undefined,
    until: params.get('until') ?? undefined,
  }
}

/** How anyone can check that the log is complete. Only an operator can: the check reads the whole log. */
function VerifyChain({ organisationId, newest }: { organisationId: number; newest: AuditEntry | undefined }) {
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

interface Props {
  params: URLSearchParams
  onChange: SetParams
}

const names = ['action', 'actor', 'person', 'since', 'until'] as const
const noFilters = Object.fromEntries(names.map((name) => [name, null]))

function AuditFilter({ params, onChange }: Props) {
  const actor = params.get('actor')
  return (
    <search className="filter-bar" aria-label="Filter the audit log">
      <label className="audit-select">
        <span>Action</span>
        <select value={params.get('action') ?? ''} onChange={({ target }) => onChange({ action: target.value })}>
          <option value="">All actions</option>
          {Object.entries(actionGroups).map(([group, labels]) => (
            <optgroup key={group} label={group}>
              {Object.entries(labels).map(([action, label]) => (
                <option key={action} value={action}>
                  {label}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
      </label>
      <TimeField label="From" at={params.get('since')} onChange={(since) => onChange({ since })} />
      <TimeField label="Before" at={params.get('until')} onChange={(until) => onChange({ until })} />
      {actor !== null && (
        <span className="badge plain">{actor === 'operator' ? 'By the operator' : `By key ${actor.slice(0, 20)}`}</span>
      )}
      {params.has('person') && <span className="badge plain">By person {params.get('person')?.slice(0, 20)}</span>}
      {names.some((name) => params.has(name)) && (
        <button type="button" className="text-button" onClick={() => onChange(noFilters)}>
          <X aria-hidden="true" />
          Clear filters
        </button>
      )}
    </search>
  )
}
