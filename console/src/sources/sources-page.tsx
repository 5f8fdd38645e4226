import { Plus, Upload } from 'lucide-react'
import { usePageTitle } from '../page-title.ts'
import { Button } from '../ui/button.tsx'
import { LoadError } from '../ui/load-error.tsx'
import { Loading } from '../ui/loading.tsx'
import { useUrlParams } from '../url-params.ts'
import { AddSource } from './add-source.tsx'
import { useSources } from './source-query.ts'
import { SourceTable } from './source-table.tsx'
import { UploadCsv } from './upload-csv.tsx'

/** Products that send feedback. */
export function SourcesPage() {
  usePageTitle('Sources')
  const [params, setParams] = useUrlParams()
  const sources = useSources()
  return (
    <>
      <div className="page-head">
        <h1>Sources</h1>
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
      </div>
      {sources.isPending && <Loading what="sources" />}
      {sources.isError && <LoadError error={sources.error} retry={sources.refetch} />}
      {sources.data && <SourceTable sources={sources.data} />}
      {params.has('upload') && <UploadCsv onClose={() => setParams({ upload: null }, { replace: true })} />}
      {params.has('add') && <AddSource onClose={() => setParams({ add: null }, { replace: true })} />}
    </>
  )
}
