import { ConflictError, type NewTrial, type TrialCandidate, ValidationError } from '@promptledger/client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { ledger } from '../ledger.ts'
import { useMutation } from '../mutation.ts'
import { useDeliverySettings } from '../organisation/text-delivery.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { focusOnOpen } from '../ui/dialog.tsx'
import { ExternalLink } from '../ui/external-link.tsx'
import { Field, LineField, NumberField } from '../ui/field.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { errorAt } from '../ui/form-error.tsx'
import { Notice } from '../ui/notice.tsx'
import { visibleText } from '../ui/untrusted-text.tsx'
import { candidateFrom, sharesFrom } from './share-text.ts'
import { refreshTrials, trialPath } from './trial-query.ts'

type Form = typeof emptyForm

const emptyForm = { candidate: '', share: '10%', votes: '200', repository: '' }

const labels = {
  candidate: 'Pull request or commit',
  pull: 'Pull request',
  commit: 'Commit',
  share: 'Share',
  votes: 'Votes for each share',
  repository_id: 'Repository',
}

/** Starts a trial, and leads to its page. */
export function TryPull({ isAdmin, onClose }: { isAdmin: boolean; onClose: () => void }) {
  const queryClient = useQueryClient()
  const [, navigate] = useLocation()
  const [form, setForm] = useState(emptyForm)
  const delivery = useDeliverySettings(isAdmin)
  const repositories = useQuery({
    queryKey: ['repositories', 'choice'],
    enabled: isAdmin,
    queryFn: async ({ signal }) => (await ledger.repositories.list({ limit: 100 }, { signal })).data,
  })
  const connected = (repositories.data ?? []).filter(({ state }) => state !== 'disconnected')
  // What was looked up is what is served, even if someone pushes meanwhile.
  const lookUp = useMutation({
    mutationFn: async (entered: Form) => {
      bodyOf(entered, null)
      return ledger.trials.candidate({ ...candidateFrom(entered.candidate), ...repositoryOf(entered) })
    },
  })
  const start = useMutation({
    mutationFn: async ({ entered, candidate }: { entered: Form; candidate: TrialCandidate }) =>
      ledger.trials.start(bodyOf(entered, candidate)),
    onSuccess: async (trial) => {
      await refreshTrials(queryClient)
      navigate(trialPath(trial))
    },
  })
  const candidate = lookUp.data ?? null
  function update(changes: Partial<typeof emptyForm>) {
    if (changes.candidate !== undefined || changes.repository !== undefined) lookUp.reset()
    start.reset()
    setForm((current) => ({ ...current, ...changes }))
  }
  function submit() {
    if (candidate === null) lookUp.mutate(form)
    else start.mutate({ entered: form, candidate })
  }
  const error = start.error ?? lookUp.error
  const problems = {
    candidate: errorAt(error, ['candidate', 'pull', 'commit'], labels),
    share: errorAt(error, ['share'], labels),
    repository: errorAt(error, ['repository_id'], labels),
  }
  const isAtField = Object.values(problems).some((problem) => problem !== undefined)
  const isPending = lookUp.isPending || start.isPending
  // Only admins see the list of repositories. Others enter the ID that the error names.
  const asksForId = !isAdmin && (form.repository !== '' || problems.repository !== undefined)
  return (
    <FormDialog
      title="Try a pull request"
      mutation={{ isPending, error: isAtField ? null : error }}
      labels={labels}
      submitLabel={
        candidate === null ? (isPending ? 'Looking it up…' : 'Continue') : isPending ? 'Starting…' : 'Start trial'
      }
      onSubmit={submit}
      onClose={onClose}
    >
      <p>
        A share of your users, chosen at random, gets its texts instead of the live ones. A later push to the pull
        request is not served.
      </p>
      {delivery.data?.enabled === false && (
        <Notice tone="caution">
          Text delivery is off. Turn it on in the <Link href="/settings">settings</Link> first.
        </Notice>
      )}
      <LineField
        label={labels.candidate}
        hint="A number such as 41, or the full hash of a commit."
        error={problems.candidate}
        ref={focusOnOpen}
        required
        value={form.candidate}
        onChange={(candidate) => update({ candidate })}
      />
      {connected.length > 1 && (
        <Field label={labels.repository_id} error={problems.repository}>
          {(control) => (
            <select
              {...control}
              required
              value={form.repository}
              onChange={({ target }) => update({ repository: target.value })}
            >
              <option value="">Choose one</option>
              {connected.map(({ id, url }) => (
                <option key={id} value={id}>
                  {visibleText(url)}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      {asksForId && (
        <LineField
          label={labels.repository_id}
          hint="The ID of the repository."
          error={problems.repository}
          required
          value={form.repository}
          onChange={(repository) => update({ repository })}
        />
      )}
      <LineField
        label={labels.share}
        hint="How many users get it, such as 10%. For a ramp, several shares that rise, such as 5%, 20%, 50%."
        error={problems.share}
        required
        value={form.share}
        onChange={(share) => update({ share })}
      />
      {isRamp(form) && (
        <NumberField
          label={labels.votes}
          hint="The next share is served after this many votes, unless the candidate is worse."
          min={1}
          max={1_000_000}
          value={form.votes}
          onChange={(votes) => update({ votes })}
        />
      )}
      {candidate !== null && <Candidate candidate={candidate} />}
      <RunningTrial error={start.error} />
    </FormDialog>
  )
}

/** What the trial will serve, to be reviewed before it starts. */
function Candidate({
  candidate: { commit_sha: commit, from_fork: isFork, prompts, pr_url: url },
}: {
  candidate: TrialCandidate
}) {
  return (
    <div role="status">
      <Notice tone={isFork ? 'caution' : 'plain'}>
        Commit <code>{commit.slice(0, 7)}</code>
        <CopyButton value={commit} label="Copy the commit" />
        {prompts.length === 0
          ? ' changes no prompt.'
          : ` changes ${prompts.map(({ name }) => visibleText(name)).join(', ')}.`}{' '}
        {isFork && <strong>It comes from a fork: people without write access may have pushed it. </strong>}
        {url !== null && <ExternalLink to={url}>Review it</ExternalLink>}
      </Notice>
    </div>
  )
}

/** Leads to the trial that has to end first. */
function RunningTrial({ error }: { error: unknown }) {
  const id = error instanceof ConflictError ? error.details.trial_id : undefined
  if (typeof id !== 'string') return null
  return (
    <p>
      <Link href={trialPath({ id })}>Show the trial that runs</Link>
    </p>
  )
}

function isRamp({ share }: Form): boolean {
  return share.includes(',')
}

function repositoryOf({ repository }: Form): { repository_id?: number } {
  if (repository === '') return {}
  if (!/^[1-9]\d{0,14}$/.test(repository.trim())) {
    throw new ValidationError('repository_id must be the ID of a repository', { code: 'validation_error' })
  }
  return { repository_id: Number(repository) }
}

/** With the commit that was looked up. Throws the error that the API would respond with. */
function bodyOf(form: Form, candidate: TrialCandidate | null): NewTrial {
  const shares = sharesFrom(form.share)
  const [share = 0] = shares
  return {
    ...candidateFrom(form.candidate),
    ...(candidate !== null && { commit: candidate.commit_sha, repository_id: candidate.repository_id }),
    ...(isRamp(form) ? { ramp: { shares, votes: Number(form.votes) } } : { share }),
  }
}
