import type { Source } from '@promptledger/client'
import { Plus, Upload } from 'lucide-react'
import { Link } from 'wouter'
import { PageHead } from '../page-head.tsx'
import { Button } from '../ui/button.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { LoadState } from '../ui/load-state.tsx'
import { formatNumber } from '../ui/number.ts'
import { type Column, Table } from '../ui/table.tsx'
import { TimeOr } from '../ui/time.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { useUrlParams } from '../url-params.ts'
import { adapters } from './adapters.ts'
import { AddSource } from './add-source.tsx'
import { useSources } from './source-query.ts'
import { UploadCsv } from './upload-csv.tsx'

/** Products that send feedback. */
export function SourcesPage() {
  const [params, setParams] = useUrlParams()
  const sources = useSources()
  return (
    <>
      <PageHead title="Sources">
        <div className="page-actions">
          <Button onClick={() => setParams({ upload: '1' })}>
            <Upload aria-hidden="true" />
            Upload CSV
          </Button>
          <Button kind="primary" onClick={() => setParams({ add: '1' })}>
            <Plus aria-hidden="true" />
            New source
          </Button>
        </div>
      </PageHead>
      <LoadState query={sources} what="sources" />
      {sources.data && (
        <Table caption="Sources" columns={columns} rows={sources.data} rowKey={({ id }) => id} empty={<NoSources />} />
      )}
      {params.has('upload') && <UploadCsv onClose={() => setParams({ upload: null }, { replace: true })} />}
      {params.has('add') && <AddSource onClose={() => setParams({ add: null }, { replace: true })} />}
    </>
  )
}

const columns: Column<Source>[] = [
  {
    header: 'Source',
    cell: ({ id, name, adapter }) => (
      <>
        <Link className="row-link" href={`/sources/${id}`}>
          <UntrustedText text={name} />
        </Link>
        <span className="cell-note muted">{adapters[adapter].label}</span>
      </>
    ),
  },
  { header: 'Recorded', cell: ({ recorded }) => formatNumber(recorded) },
  { header: 'Rejected', cell: ({ rejected }) => formatNumber(rejected) },
  { header: 'Last event', cell: ({ last_received_at: at }) => <TimeOr at={at} as="relative" none="None yet" /> },
]

function NoSources() {
  return (
    <EmptyState title="No sources yet">
      <p>
        Add a source to record the feedback that you already collect: in Slack, LangSmith, PostHog, Intercom or Zendesk,
        or with any webhook.
      </p>
    </EmptyState>
  )
}
