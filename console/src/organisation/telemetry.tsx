import type { TelemetryOutcome } from '@promptledger/client'
import { useQuery } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'
import { CopyField } from '../ui/copy-field.tsx'
import { LoadError } from '../ui/load-state.tsx'
import { formatNumber } from '../ui/number.ts'
import { type Column, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { EvaluationRules } from './evaluation-rules.tsx'

/** Whether records of OpenTelemetry arrive, and why not. */
export function Telemetry() {
  const telemetry = useQuery({ queryKey: ['telemetry'], queryFn: ({ signal }) => ledger.telemetry.get({ signal }) })
  return (
    <section className="card" aria-labelledby="telemetry">
      <h2 id="telemetry">OpenTelemetry</h2>
      <p className="muted">
        Point the exporter of an application here: evaluations become signals, and spans tell how often each version is
        used. Send a key with the role <code>ingest</code> in <code>OTEL_EXPORTER_OTLP_HEADERS</code>.
      </p>
      <CopyField label="Endpoint" value={`OTEL_EXPORTER_OTLP_ENDPOINT=${window.location.origin}`} />
      {telemetry.isError && <LoadError error={telemetry.error} retry={telemetry.refetch} />}
      {telemetry.data && (
        <>
          <Table
            variant="compact"
            caption="What became of records that arrived"
            columns={columns}
            rows={telemetry.data.outcomes}
            rowKey={({ kind, outcome, detail }) => `${kind} ${outcome} ${detail}`}
            empty={<p>Nothing has arrived within the last days. Check the URL, the key and the log of the exporter.</p>}
          />
          <EvaluationRules
            rejected={telemetry.data.outcomes.flatMap(({ outcome, detail }) =>
              outcome === 'no_threshold' && detail !== null ? [detail] : [],
            )}
          />
        </>
      )}
    </section>
  )
}

const outcomeLabels: Record<TelemetryOutcome['outcome'], string> = {
  recorded: 'Recorded',
  repeated: 'Recorded before',
  ignored: 'Not about a prompt',
  waiting: 'Waiting for their span',
  unknown_prompt: 'Rejected: unknown prompt',
  ambiguous_prompt: 'Rejected: several prompts match',
  unknown_span: 'Rejected: no prompt, and no span that names one',
  no_value: 'Rejected: no label or score that can be read',
  no_threshold: 'Rejected: the score needs a threshold',
  too_old: 'Rejected: too old',
  in_future: 'Rejected: in the future',
  over_limit: 'Rejected: over the monthly limit',
  too_many: 'Rejected: too many in one request',
}

const columns: Column<TelemetryOutcome>[] = [
  {
    header: 'What happened',
    cell: ({ outcome, detail }) => (
      <>
        {/* A newer service may know further outcomes. */}
        {outcomeLabels[outcome] ?? outcome}
        {detail !== null && (
          <>
            {' '}
            (<UntrustedText text={detail} />)
          </>
        )}
      </>
    ),
  },
  { header: 'Of', cell: ({ kind }) => (kind === 'logs' ? 'Evaluations' : 'Spans') },
  { header: 'Records', align: 'right', cell: ({ records }) => formatNumber(records) },
  { header: 'Last', className: 'nowrap', cell: ({ last_at }) => <Time at={last_at} as="relative" /> },
]
