import { Plus, Upload } from 'lucide-react'
import { PageHead } from '../page-head.tsx'
import { Button } from '../ui/button.tsx'
import { LoadState } from '../ui/load-state.tsx'
import { useUrlParams } from '../url-params.ts'
import { AddSource } from './add-source.tsx'
import { useSources } from './source-query.ts'
import { SourceTable } from './source-table.tsx'
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
      {sources.data && <SourceTable sources={sources.data} />}
      {params.has('upload') && <UploadCsv onClose={() => setParams({ upload: null }, { replace: true })} />}
      {params.has('add') && <AddSource onClose={() => setParams({ add: null }, { replace: true })} />}
    </>
  )
}
