import type { Forge, NewRepository } from '@promptledger/client'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ledger } from '../ledger.ts'
import { useMutation } from '../mutation.ts'
import { focusOnOpen } from '../ui/dialog.tsx'
import { Field, LineField, NumberField } from '../ui/field.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { isSsh, SshKeyField } from './access-fields.tsx'
import { ConnectedRepositoryDialog } from './connected-repository.tsx'
import { forgeLabels, forges } from './forges.ts'
import { ReportsField } from './reports-field.tsx'
import { refreshRepositories } from './repository-query.ts'

const emptyForm = {
  forge: 'github' as Forge,
  url: '',
  path: 'prompts/**/*.md',
  token: '',
  ssh_key: '',
  similarity: '50',
  reports: false,
}

const labels = {
  forge: 'Forge',
  url: 'Repository URL',
  path: 'Prompt files',
  token: 'Token (optional)',
  ssh_key: 'SSH key (optional)',
  similarity: 'Similarity (%)',
  reports_on_pulls: 'Report on pull requests',
}

function sshAccess(key: string): Pick<NewRepository, 'ssh_key' | 'generate_ssh_key'> {
  return key.trim() === '' ? { generate_ssh_key: true } : { ssh_key: key }
}

export function ConnectRepository({ onClose }: { onClose: () => void }) {
  const queryClient = useQueryClient()
  const [form, setForm] = useState(emptyForm)
  const connection = useMutation({
    mutationFn: (body: NewRepository) => ledger.repositories.connect(body),
    onSuccess: () => refreshRepositories(queryClient),
    // Drop the token and the webhook secret from the cache as soon as the dialog closes.
    gcTime: 0,
  })
  const update = (changes: Partial<typeof emptyForm>) => setForm((current) => ({ ...current, ...changes }))
  function submit() {
    const { forge, url, path, token, ssh_key: sshKey, similarity, reports } = form
    connection.mutate({
      forge,
      url: url.trim(),
      path: path.trim(),
      ...(isSsh(url) ? sshAccess(sshKey) : { token: token.trim() || null }),
      similarity: Number(similarity),
      reports_on_pulls: reports,
    })
  }
  if (connection.data !== undefined) {
    return <ConnectedRepositoryDialog connected={connection.data} onClose={onClose} />
  }
  return (
    <FormDialog
      title="Connect a repository"
      mutation={connection}
      labels={labels}
      submitLabel={connection.isPending ? 'Connecting…' : 'Connect'}
      progress="Reading the repository. This takes a few seconds."
      onSubmit={submit}
      onClose={onClose}
    >
      <Field label={labels.forge}>
        {(control) => (
          <select {...control} value={form.forge} onChange={({ target }) => update({ forge: target.value as Forge })}>
            {forges.map((forge) => (
              <option key={forge} value={forge}>
                {forgeLabels[forge]}
              </option>
            ))}
          </select>
        )}
      </Field>
      <LineField
        label={labels.url}
        hint="https://…, ssh://… or git@host:path. SSH uses a deploy key."
        ref={focusOnOpen}
        required
        placeholder="https://github.com/acme/prompts.git"
        value={form.url}
        onChange={(url) => update({ url })}
      />
      <LineField
        label={labels.path}
        hint={
          <>
            A pattern relative to the root of the repository. <code>*</code> matches anything within a folder,{' '}
            <code>**</code> any number of folders.
          </>
        }
        required
        value={form.path}
        onChange={(path) => update({ path })}
      />
      {isSsh(form.url) ? (
        <SshKeyField
          label={labels.ssh_key}
          hint="A private key in OpenSSH's format without a passphrase. Leave it empty to generate one. It is stored encrypted."
          value={form.ssh_key}
          onChange={(key) => update({ ssh_key: key })}
        />
      ) : (
        <LineField
          type="password"
          label={labels.token}
          hint="Only for private repositories. It needs read access and is stored encrypted."
          value={form.token}
          onChange={(token) => update({ token })}
        />
      )}
      <ReportsField
        forge={form.forge}
        url={form.url}
        checked={form.reports}
        onChange={(reports) => update({ reports })}
      />
      <details className="form-advanced">
        <summary>Advanced</summary>
        <NumberField
          label={labels.similarity}
          hint="How much of a file must stay the same for a moved and edited file to remain the same prompt. At 100, only files moved without edits do."
          min={1}
          max={100}
          value={form.similarity}
          onChange={(similarity) => update({ similarity })}
        />
      </details>
    </FormDialog>
  )
}
