import type { NewShare, Prompt, Share } from '@promptledger/client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { ledger } from '../ledger.ts'
import { useMutation } from '../mutation.ts'
import { regressionIdIn } from '../prompt/prompt-path.ts'
import { Button } from '../ui/button.tsx'
import { Checkbox, Field } from '../ui/field.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { FormError } from '../ui/form-error.tsx'
import { LoadError } from '../ui/load-state.tsx'
import { SecretDialog } from '../ui/secret-dialog.tsx'
import { Time } from '../ui/time.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'

const dayMs = 86_400_000
const lifetimes = [1, 7, 30, 90]
const labels = { expires_at: 'Expires after', includes_signals: 'Signals' }

/** Creates a link to this page for people without a key, and revokes those that exist. */
export function SharePrompt({ prompt, onClose }: { prompt: Prompt; onClose: () => void }) {
  const queryClient = useQueryClient()
  const regressionId = regressionIdIn(useLocation()[0])
  const [days, setDays] = useState(7)
  const [includesSignals, setIncludesSignals] = useState(false)
  const creation = useMutation({
    mutationFn: (body: NewShare) => ledger.shares.create(prompt.id, body),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['shares', prompt.id] }),
    // Drop the link from the cache as soon as the dialog closes.
    gcTime: 0,
  })
  function submit() {
    const expires_at = new Date(Date.now() + days * dayMs).toISOString()
    creation.mutate({ expires_at, includes_signals: includesSignals, regression_id: regressionId })
  }
  if (creation.data !== undefined) {
    return (
      <SecretDialog
        title="Link created"
        noun="link"
        label="Read-only link"
        secret={creation.data.url}
        recovery="revoke it and create another"
        onClose={onClose}
      >
        <p className="muted">
          Works without a key until <Time at={creation.data.expires_at} />.
        </p>
      </SecretDialog>
    )
  }
  return (
    <FormDialog
      title={regressionId === null ? 'Share this prompt' : 'Share this regression'}
      mutation={creation}
      labels={labels}
      submitLabel="Create link"
      onSubmit={submit}
      onClose={onClose}
      footer={<ActiveLinks promptId={prompt.id} />}
    >
      <p>
        A link for people without a key. It shows the chart, the changes with their text and their verdicts, and nothing
        else.
      </p>
      <Field label={labels.expires_at}>
        {(control) => (
          <select {...control} value={days} onChange={({ target }) => setDays(Number(target.value))}>
            {lifetimes.map((each) => (
              <option key={each} value={each}>
                {each === 1 ? '1 day' : `${each} days`}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Checkbox checked={includesSignals} onChange={setIncludesSignals}>
        Include signals, with their comments and metadata
      </Checkbox>
    </FormDialog>
  )
}

function ActiveLinks({ promptId }: { promptId: string }) {
  const queryClient = useQueryClient()
  const shares = useQuery({
    queryKey: ['shares', promptId],
    queryFn: async ({ signal }) => (await ledger.shares.listOfPrompt(promptId, { limit: 100 }, { signal })).data,
  })
  const revocation = useMutation({
    mutationFn: (id: number) => ledger.shares.revoke(promptId, id),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['shares', promptId] }),
  })
  const active = (shares.data ?? []).filter(isActive)
  if (shares.isError) return <LoadError error={shares.error} retry={shares.refetch} />
  if (active.length === 0) return null
  return (
    <section className="form" aria-labelledby="active-links">
      <h3 id="active-links">Active links</h3>
      <ul className="active-links" aria-labelledby="active-links">
        {active.map(({ id, hint, regression_id: regression, includes_signals: hasSignals, ...share }) => (
          <li key={id}>
            <span>
              <code>…{hint}</code> {regression === null ? 'prompt' : `regression ${regression}`}
              {hasSignals && ' with signals'}, by <UntrustedText text={share.created_by} />, until{' '}
              <Time at={share.expires_at} as="date" />
            </span>
            <Button
              busy={revocation.isPending && revocation.variables === id}
              aria-label={`Revoke the link …${hint}`}
              onClick={() => revocation.mutate(id)}
            >
              Revoke
            </Button>
          </li>
        ))}
      </ul>
      <FormError error={revocation.error} />
    </section>
  )
}

function isActive({ revoked_at: revokedAt, expires_at: expiresAt }: Share): boolean {
  return revokedAt === null && Date.parse(expiresAt) > Date.now()
}
