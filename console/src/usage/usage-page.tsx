import type { SessionInfo } from '@promptledger/client'
import { usePageTitle } from '../page-title.ts'
import { LoadError } from '../ui/load-error.tsx'
import { Loading } from '../ui/loading.tsx'
import { Months } from './months.tsx'
import { ThisMonth } from './this-month.tsx'
import { useUsage } from './usage-query.ts'

export function UsagePage({ session }: { session: SessionInfo }) {
  usePageTitle('Usage')
  const usage = useUsage()
  return (
    <>
      <div className="page-head">
        <h1>Usage</h1>
      </div>
      {usage.isPending && <Loading what="usage" />}
      {usage.isError && <LoadError error={usage.error} retry={usage.refetch} />}
      {usage.data && (
        <div className="usage">
          <ThisMonth usage={usage.data} organisationId={session.organisation.id} />
          <Months months={usage.data.months} />
        </div>
      )}
    </>
  )
}
