import type { AuditQuery } from '@promptledger/client'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useCallback } from 'react'
import { ledger } from '../ledger.ts'
import { usePageTitle } from '../page-title.ts'
import { pageFrom, type SetParams, useUrlParams } from '../url-params.ts'
import { isAction } from './actions.ts'
import './audit.css'
import { AuditFilter } from './audit-filter.tsx'
import { AuditTable } from './audit-table.tsx'
import { VerifyChain } from './verify-chain.tsx'

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
    since: params.get('since') ?? undefined,
    until: params.get('until') ?? undefined,
  }
}
