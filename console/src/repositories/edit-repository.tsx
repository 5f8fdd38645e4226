import type { Repository, RepositoryUpdate } from '@promptledger/client'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ledger } from '../ledger.ts'
import { useMutation } from '../mutation.ts'
import { focusOnOpen } from '../ui/dialog.tsx'
import { Checkbox, LineField } from '../ui/field.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { ResultDialog } from '../ui/result-dialog.tsx'
import { isSsh, SshKeyField } from './access-fields.tsx'
import { BriefingsField, IssuesField, ProposalsField, ReportsField } from './reports-field.tsx'
import { Warnings } from './repository-notices.tsx'
import { refreshRepositories } from './repository-query.ts'

interface Props {
  repository: Repository
  onClose: () => void
}

const labels = {
  url: 'Repository URL',
  token: 'New token',
  ssh_key: 'New SSH key',
  ssh_host_key: 'New SSH host key',
  production_environments: 'Production environments',
  reports_on_pulls: 'Report on pull requests',
  proposes_reverts: 'Propose reverts by itself',
  opens_issues: 'Open issues',
  briefs_pulls: 'Brief reviewers',
}

const emptyForm = {
  url: '',
  token: '',
  removesToken: false,
  sshKey: '',
  sshHostKey: '',
  production: '',
}

/** What the service does by itself, if it is switched on. */
const switches = ['reports_on_pulls', 'proposes_reverts', 'opens_issues', 'briefs_pulls'] as const

type Switch = (typeof switches)[number]

type EditForm = typeof emptyForm & Pick<Repository, Switch>

/** Changes the URL of a repository that was renamed or moved, its credentials, or its settings. */
export function EditRepository({ repository, onClose }: Props) {
  const queryClient = useQueryClient()
  const [form, setForm] = useState<EditForm>({
    ...emptyForm,
    url: repository.url,
    production: repository.production_environments?.join(', ') ?? '',
    reports_on_pulls: repository.reports_on_pulls,
    proposes_reverts: repository.proposes_reverts,
    opens_issues: repository.opens_issues,
    briefs_pulls: repository.briefs_pulls,
  })
  const update = (changes: Partial<EditForm>) => setForm((current) => ({ ...current, ...changes }))
  const switchProps = (name: Switch) => ({
    forge: repository.forge,
    url: form.url,
    checked: form[name],
    onChange: (checked: boolean) => update({ [name]: checked }),
  })
  const change = useMutation({
    mutationFn: (body: RepositoryUpdate) => ledger.repositories.update(repository.id, body),
    onSuccess: () => refreshRepositories(queryClient),
    // Drop the token from the cache as soon as the dialog closes.
    gcTime: 0,
  })
  function submit() {
    change.mutate(changesOf(form, repository), { onSuccess: ({ warnings }) => warnings.length === 0 && onClose() })
  }
  if (change.data !== undefined) {
    const lead = <Warnings warnings={change.data.warnings} />
    return (
      <ResultDialog title="Repository changed" lead={lead} onClose={onClose}>
        <p>The changes are stored, and the repository is synced now.</p>
      </ResultDialog>
    )
  }
  return (
    <FormDialog
      title="Edit repository"
      mutation={change}
      labels={labels}
      submitLabel={change.isPending ? 'Checking…' : 'Save'}
      progress="Reading the repository. This takes a few seconds."
      onSubmit={submit}
      onClose={onClose}
    >
      <LineField
        label={labels.url}
        hint="The new URL of the same repository, after it was renamed or moved. Webhook, prompts and history stay."
        ref={focusOnOpen}
        required
        value={form.url}
        onChange={(url) => update({ url })}
      />
      {isSsh(form.url) ? (
        <>
          <SshKeyField
            label={labels.ssh_key}
            hint="A private key in OpenSSH's format without a passphrase. Leave it empty to keep the current one."
            value={form.sshKey}
            onChange={(sshKey) => update({ sshKey })}
          />
          <LineField
            label={labels.ssh_host_key}
            hint="Only if the server has a new one, such as ssh-ed25519 AAAAC3… Leave it empty to keep the recorded one."
            value={form.sshHostKey}
            onChange={(sshHostKey) => update({ sshHostKey })}
          />
        </>
      ) : (
        <>
          <LineField
            type="password"
            label={labels.token}
            hint="Leave it empty to keep the current one, if there is one. Required if the server changes."
            value={form.token}
            onChange={(token) => update({ token, removesToken: false })}
          />
          <Checkbox checked={form.removesToken} onChange={(removesToken) => update({ removesToken, token: '' })}>
            Remove the stored token
          </Checkbox>
        </>
      )}
      <LineField
        label={labels.production_environments}
        hint="Whose deployments decide what is live, separated by commas, such as prod-*. Empty for the default: production, prod, live, and what the forge calls production."
        value={form.production}
        onChange={(production) => update({ production })}
      />
      <ReportsField {...switchProps('reports_on_pulls')} />
      <ProposalsField {...switchProps('proposes_reverts')} />
      <IssuesField {...switchProps('opens_issues')} />
      <BriefingsField {...switchProps('briefs_pulls')} />
    </FormDialog>
  )
}

function changesOf(form: EditForm, repository: Repository): RepositoryUpdate {
  const { production_environments: current } = repository
  const { url, token, removesToken, sshKey, sshHostKey } = form
  const changes: RepositoryUpdate = { url: url.trim() }
  const production = form.production
    .split(',')
    .map((pattern) => pattern.trim())
    .filter(Boolean)
  if (production.join() !== (current ?? []).join()) {
    changes.production_environments = production.length === 0 ? null : production
  }
  for (const name of switches) if (form[name] !== repository[name]) changes[name] = form[name]
  if (isSsh(url)) {
    if (sshKey.trim() !== '') changes.ssh_key = sshKey
    if (sshHostKey.trim() !== '') changes.ssh_host_key = sshHostKey.trim()
  } else if (removesToken) {
    changes.token = null
  } else if (token.trim() !== '') {
    changes.token = token.trim()
  }
  return changes
}
