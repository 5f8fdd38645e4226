import { useMutation } from '../mutation.ts'
import './organisation.css'
import type { Organisation, SessionInfo } from '@promptledger/client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Link } from 'wouter'
import { ledger } from '../ledger.ts'
import { PageHead } from '../page-head.tsx'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { CopyableId } from '../ui/copy-button.tsx'
import { CopyField } from '../ui/copy-field.tsx'
import { Detail } from '../ui/detail.tsx'
import { Field } from '../ui/field.tsx'
import { FormError } from '../ui/form-error.tsx'
import { LoadError, LoadState } from '../ui/load-state.tsx'
import { Meter } from '../ui/meter.tsx'
import { countOf, formatNumber } from '../ui/number.ts'
import { Time } from '../ui/time.tsx'
import { levelTones, limitLevel, planCommand, planLabels } from '../usage/plan.ts'
import { useUsage } from '../usage/usage-query.ts'
import { EraseSignals } from './erase-signals.tsx'
import { PromptSegments } from './prompt-segments.tsx'
import { SegmentKeysForm } from './segment-keys-form.tsx'
import { Telemetry } from './telemetry.tsx'
import { TextDelivery } from './text-delivery.tsx'

export function SettingsPage({ session }: { session: SessionInfo }) {
  const organisation = useQuery({
    queryKey: ['organisation'],
    queryFn: ({ signal }) => ledger.organisation.get({ signal }),
  })
  return (
    <>
      <PageHead title="Settings" />
      <LoadState query={organisation} what="settings" />
      {organisation.data && (
        <div className="settings">
          <OrganisationName organisation={organisation.data} />
          <Limits organisation={organisation.data} />
          <OrganisationSegments maxKeys={organisation.data.limits.segment_keys} />
          <TextDelivery />
          <Telemetry />
          <EraseSignals organisationName={session.organisation.name} />
        </div>
      )}
    </>
  )
}

function OrganisationSegments({ maxKeys }: { maxKeys: number }) {
  const queryClient = useQueryClient()
  const segments = useQuery({ queryKey: ['segments'], queryFn: ({ signal }) => ledger.segments.get({ signal }) })
  const saving = useMutation({
    mutationFn: (keys: string[]) => ledger.segments.declare({ keys }),
    onSuccess: (saved) => {
      queryClient.setQueryData(['segments'], saved)
      // Prompts without keys of their own use these.
      return queryClient.invalidateQueries({ queryKey: ['prompt-segments'] })
    },
  })
  return (
    <section className="card" aria-labelledby="segments">
      <h2 id="segments">Segments</h2>
      <p className="muted">
        Signals with the same value of one of these keys of their metadata, such as one model or one language, form a
        segment. A change that only seems worse because more votes now come from a weaker segment is then not blamed for
        it, and each change can be broken down by segment.
      </p>
      {segments.isError && <LoadError error={segments.error} retry={segments.refetch} />}
      {segments.data && (
        <SegmentKeysForm
          key={JSON.stringify(segments.data.keys)}
          label="Keys for all prompts"
          keys={segments.data.keys}
          maxKeys={maxKeys}
          mutation={saving}
          onSave={(keys) => saving.mutate(keys)}
        />
      )}
      <details className="form-advanced">
        <summary>Segments of one prompt</summary>
        <PromptSegments maxKeys={maxKeys} />
      </details>
    </section>
  )
}

const labels = { name: 'Name' }

function OrganisationName({ organisation }: { organisation: Organisation }) {
  const queryClient = useQueryClient()
  const [name, setName] = useState(organisation.name)
  const renaming = useMutation({
    mutationFn: () => ledger.organisation.rename({ name: name.trim() }),
    onSuccess: async (renamed) => {
      queryClient.setQueryData(['organisation'], renamed)
      setName(renamed.name)
      // The top bar shows the name too.
      await queryClient.invalidateQueries({ queryKey: ['session'] })
    },
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    renaming.mutate()
  }
  return (
    <section className="card" aria-labelledby="organisation">
      <h2 id="organisation">Organisation</h2>
      <dl className="details-list even">
        <Detail name="ID">
          <CopyableId id={organisation.id} what="organisation ID" />
        </Detail>
        <Detail name="Created">
          <Time at={organisation.created_at} as="date" />
        </Detail>
      </dl>
      <form className="settings-line" onSubmit={submit}>
        <Field label={labels.name} hint="Shown in the console, in alerts and in the audit log.">
          {(control) => (
            <input
              {...control}
              required
              autoComplete="off"
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        <Button type="submit" kind="primary" busy={renaming.isPending} disabled={name.trim() === organisation.name}>
          Rename
        </Button>
      </form>
      <FormError error={renaming.error} labels={labels} />
      <p role="status" className="muted">
        {renaming.isSuccess && name === organisation.name ? 'Renamed.' : ''}
      </p>
    </section>
  )
}

function Limits({ organisation }: { organisation: Organisation }) {
  const { id, plan, limits, signal_retention_days: days } = organisation
  const usage = useUsage()
  const repositories = useQuery({
    queryKey: ['repositories', 'count'],
    queryFn: async ({ signal }) => (await ledger.repositories.list({ limit: 1 }, { signal })).pagination.total_count,
  })
  const alerts = useQuery({
    queryKey: ['alerts', 'count'],
    queryFn: async ({ signal }) => (await ledger.alerts.list({ limit: 1 }, { signal })).pagination.total_count,
  })
  return (
    <section className="card" aria-labelledby="limits">
      <div className="settings-head">
        <h2 id="limits">Plan and limits</h2>
        <Badge>{planLabels[plan]} plan</Badge>
      </div>
      <ul className="limits">
        <Limit name="Signals this month" to="/usage" used={usage.data?.used} max={limits.signals_per_month} />
        <Limit name="Repositories" to="/repositories" used={repositories.data} max={limits.repositories} />
        <Limit name="Alerts" to="/alerts" used={alerts.data} max={limits.alerts} />
      </ul>
      <p className="muted">
        {days === null
          ? 'Signals are kept until they are deleted or erased.'
          : `Signals are deleted after ${countOf(days, 'day')}. Counts and verdicts stay.`}
      </p>
      <p className="muted">
        Only the operator of this service can change the plan. The settings <code>PLAN_LIMITS</code>,{' '}
        <code>REPOSITORIES_PER_ORGANISATION</code> and <code>SIGNAL_RETENTION_DAYS</code> apply to all organisations.
      </p>
      <CopyField label="Command that changes the plan" value={planCommand(id, plan)} />
    </section>
  )
}

interface LimitProps {
  name: string
  to: string
  used: number | undefined
  /** Null without a limit. */
  max: number | null
}

function Limit({ name, to, used = 0, max }: LimitProps) {
  const text = max === null ? `${formatNumber(used)}, no limit` : `${formatNumber(used)} of ${formatNumber(max)}`
  return (
    <li>
      <p>
        <Link href={to}>{name}</Link>
        <span>{text}</span>
      </p>
      {max !== null && (
        <Meter label={name} value={used} max={max} tone={levelTones[limitLevel({ used, limit: max })]} text={text} />
      )}
    </li>
  )
}
