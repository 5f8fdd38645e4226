import { useQuery } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'
import { usePageTitle } from '../page-title.ts'
import { LoadError } from '../ui/load-error.tsx'
import { Loading } from '../ui/loading.tsx'
import { Months } from './months.tsx'
import { ThisMonth } from './this-month.tsx'

export function UsagePage() {
  usePageTitle('Usage')
  const usage = useQuery({
    queryKey: ['usage'],
    queryFn: ({ signal }) => ledger.usage.get({ signal }),
  })
  return (
    <>
      <div className="page-head">
        <h1>Usage</h1>
      </div>
      {usage.isPending && <Loading what="usage" />}
      {usage.isError && <LoadError error={usage.error} retry={usage.refetch} />}
      {usage.data && (
        <div className="usage">
          <ThisMonth usage={usage.data} />
          <Months months={usage.data.months} />
        </div>
      )}
    </>
  )
}
