import type { SessionInfo } from '@promptledger/client'
import { useQuery } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'
import { usePageTitle } from '../page-title.ts'
import { LoadError } from '../ui/load-error.tsx'
import { Loading } from '../ui/loading.tsx'
import { EraseSignals } from './erase-signals.tsx'
import { Limits } from './limits.tsx'
import { OrganisationName } from './organisation-name.tsx'
import { OrganisationSegments } from './organisation-segments.tsx'
import './organisation.css'

export function SettingsPage({ session }: { session: SessionInfo }) {
  usePageTitle('Settings')
  const organisation = useQuery({
    queryKey: ['organisation'],
    queryFn: ({ signal }) => ledger.organisation.get({ signal }),
  })
  return (
    <>
      <div className="page-head">
        <h1>Settings</h1>
      </div>
      {organisation.isPending && <Loading what="settings" />}
      {organisation.isError && <LoadError error={organisation.error} retry={organisation.refetch} />}
      {organisation.data && (
        <div className="settings">
          <OrganisationName organisation={organisation.data} />
          <Limits organisation={organisation.data} />
          <OrganisationSegments maxKeys={organisation.data.limits.segment_keys} />
          <EraseSignals organisationName={session.organisation.name} />
        </div>
      )}
    </>
  )
}
