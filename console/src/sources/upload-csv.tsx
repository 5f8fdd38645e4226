import { useState } from 'react'
import { ledger } from '../ledger.ts'
import { useMutation } from '../mutation.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Field } from '../ui/field.tsx'
import { FormError } from '../ui/form-error.tsx'
import { Notice } from '../ui/notice.tsx'
import { formatNumber } from '../ui/number.ts'
import { Table } from '../ui/table.tsx'
import { UntrustedText, visibleText } from '../ui/untrusted-text.tsx'
import { parseCsv } from './csv.ts'
import { type Columns, type CsvRow, csvFields, csvLabels, guessColumns, readRows, withKeys } from './csv-signals.ts'

// What a browser reads and shows without a pause. A larger file is for the command line.
const maxBytes = 5 * 1024 * 1024
const maxRows = 20_000
const batchSize = 500
const previewed = 5

/** Records the votes of a CSV file, after a preview. */
export function UploadCsv({ onClose }: { onClose: () => void }) {
  const [rows, setRows] = useState<string[][]>([])
  const [columns, setColumns] = useState<Columns>({})
  const [prompt, setPrompt] = useState('')
  const [problem, setProblem] = useState<string | undefined>()
  const upload = useMutation({ mutationFn: (read: CsvRow[]) => record(read) })
  const [header = []] = rows
  const read = readRows(rows, columns, prompt.trim())
  const good = read.filter(({ signal }) => signal !== null)
  const [bad] = read.filter(({ signal }) => signal === null)

  async function open(file: File | undefined) {
    setRows([])
    setProblem(undefined)
    upload.reset()
    if (file === undefined) return
    try {
      const found = await readFile(file)
      setRows(found)
      setColumns(guessColumns(found[0] ?? []))
    } catch (error) {
      setProblem((error as Error).message)
    }
  }

  return (
    <Dialog title="Upload a CSV file" onClose={onClose}>
      <div className="form">
        <Field
          label="File"
          hint="With a header, up to 5 MB and 20,000 rows. Uploading it again counts nothing twice. Votes are at most 30 days old."
          error={problem}
        >
          {(control) => (
            <input {...control} type="file" accept=".csv,text/csv" onChange={({ target }) => open(target.files?.[0])} />
          )}
        </Field>
        {rows.length > 0 && (
          <>
            {columns.prompt === undefined && (
              <Field label="Prompt" hint="The ID, name or path of the prompt that was voted on.">
                {(control) => <input {...control} value={prompt} onChange={({ target }) => setPrompt(target.value)} />}
              </Field>
            )}
            {csvFields.map((field) => (
              <ColumnField
                key={field}
                label={`Column of the ${csvLabels[field].toLowerCase()}`}
                header={header}
                column={columns[field]}
                onChange={(column) =>
                  setColumns(({ [field]: _, ...rest }) => (column === undefined ? rest : { ...rest, [field]: column }))
                }
              />
            ))}
            <Preview rows={read.slice(0, previewed)} />
            <p role="status">
              {formatNumber(good.length)} of {formatNumber(read.length)} rows can be recorded.
            </p>
            {bad !== undefined && (
              <Notice tone="caution">
                Row {formatNumber(bad.number)}: <UntrustedText text={bad.problem ?? ''} />
              </Notice>
            )}
          </>
        )}
        <FormError error={upload.error} />
        {upload.data && <Result {...upload.data} />}
        <div className="form-actions">
          <Button onClick={onClose}>{upload.data ? 'Close' : 'Cancel'}</Button>
          <Button
            kind="primary"
            busy={upload.isPending}
            disabled={good.length === 0}
            onClick={() => upload.mutate(read)}
          >
            Record {formatNumber(good.length)} signals
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

async function readFile(file: File): Promise<string[][]> {
  if (file.size > maxBytes) throw new Error('The file is larger than 5 MB. Use promptledger import signals.')
  const rows = parseCsv(await file.text())
  if (rows.length < 2) throw new Error('The file has no rows below its header.')
  if (rows.length > maxRows + 1) throw new Error('The file has more than 20,000 rows. Split it.')
  return rows
}

interface Uploaded {
  accepted: number
  rejected: number
  /** Why the first one was rejected. */
  reason: string | null
}

async function record(rows: CsvRow[]): Promise<Uploaded> {
  const signals = await withKeys(rows)
  const errors: string[] = []
  for (let start = 0; start < signals.length; start += batchSize) {
    const results = await ledger.signals.createMany(signals.slice(start, start + batchSize))
    errors.push(...results.flatMap(({ error }) => (error === null ? [] : [error.message])))
  }
  return { accepted: signals.length - errors.length, rejected: errors.length, reason: errors[0] ?? null }
}

function Result({ accepted, rejected, reason }: Uploaded) {
  return (
    <Notice tone={rejected === 0 ? 'plain' : 'caution'}>
      <strong>{formatNumber(accepted)} signals are recorded.</strong> Those that were uploaded before are not counted
      again.{' '}
      {rejected > 0 && (
        <>
          {formatNumber(rejected)} were rejected, the first one because: <UntrustedText text={reason ?? ''} />
        </>
      )}
    </Notice>
  )
}

interface ColumnProps {
  label: string
  header: string[]
  column: number | undefined
  onChange: (column: number | undefined) => void
}

function ColumnField({ label, header, column, onChange }: ColumnProps) {
  return (
    <Field label={label}>
      {(control) => (
        <select
          {...control}
          value={column ?? ''}
          onChange={({ target }) => onChange(target.value === '' ? undefined : Number(target.value))}
        >
          <option value="">None</option>
          {header.map((name, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two columns may have the same name, and their order is fixed
            <option key={i} value={i}>
              {visibleText(name)}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

function Preview({ rows }: { rows: CsvRow[] }) {
  return (
    <Table
      caption="Preview"
      columns={[
        { header: 'Row', cell: ({ number }) => formatNumber(number) },
        { header: 'Value', cell: ({ signal }) => signal?.value ?? <span className="muted">Not recorded</span> },
        { header: 'Prompt', cell: ({ signal }) => <UntrustedText text={signal?.prompt ?? ''} /> },
        { header: 'Comment', cell: ({ signal }) => <UntrustedText text={signal?.comment ?? ''} /> },
      ]}
      rows={rows}
      rowKey={({ number }) => String(number)}
      empty={null}
    />
  )
}
