import { useQuery } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'
import { useTitle } from '../title.ts'
import { Failure } from '../ui/failure.tsx'
import { Loading } from '../ui/loading.tsx'
import { Months } from '../usage/months.tsx'
import { ThisMonth } from '../usage/this-month.tsx'

export function UsagePage() {
  useTitle('Usage')
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
      {usage.isError && <Failure error={usage.error} retry={usage.refetch} />}
      {usage.data && (
        <div className="usage">
          <ThisMonth usage={usage.data} />
          <Months months={usage.data.months} />
        </div>
      )}
    </>
  )
}
