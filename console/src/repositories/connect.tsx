import type { Forge, NewRepository } from '@promptledger/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ledger } from '../ledger.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Field } from '../ui/field.tsx'
import { firstFocus } from '../ui/first-focus.ts'
import { Refusal } from '../ui/refusal.tsx'
import { Connected } from './connected.tsx'
import { forgeNames, forges } from './forges.ts'
import { refreshRepositories } from './queries.ts'

const empty = { forge: 'github' as Forge, url: '', path: 'prompts/**/*.md', token: '', similarity: '100' }

export function Connect({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const [draft, setDraft] = useState(empty)
  const connection = useMutation({
    mutationFn: (body: NewRepository) => ledger.repositories.connect(body),
    onSuccess: () => refreshRepositories(queries),
    // Token and secret are gone from memory as soon as they are gone from the page.
    gcTime: 0,
  })
  const put = (change: Partial<typeof empty>) => setDraft((before) => ({ ...before, ...change }))
  function submit(event: FormEvent) {
    event.preventDefault()
    const { forge, url, path, token, similarity } = draft
    connection.mutate({
      forge,
      url: url.trim(),
      path: path.trim(),
      token: token.trim() || null,
      similarity: Number(similarity),
    })
  }
  if (connection.data !== undefined) {
    return (
      <Dialog key="connected" title="The repository is connected" onClose={onClose}>
        <Connected connected={connection.data} onClose={onClose} />
      </Dialog>
    )
  }
  return (
    <Dialog title="Connect a repository" onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <Field label="Forge">
          {(control) => (
            <select {...control} value={draft.forge} onChange={({ target }) => put({ forge: target.value as Forge })}>
              {forges.map((forge) => (
                <option key={forge} value={forge}>
                  {forgeNames[forge]}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field
          label="Address"
          hint="https://…, ssh://… or git@host:path. Of ssh, the keys of whoever runs the service are used."
        >
          {(control) => (
            <input
              {...control}
              ref={firstFocus}
              required
              autoComplete="off"
              spellCheck={false}
              placeholder="https://github.com/acme/prompts.git"
              value={draft.url}
              onChange={({ target }) => put({ url: target.value })}
            />
          )}
        </Field>
        <Field
          label="Files that are prompts"
          hint={
            <>
              From the top of the repository. <code>*</code> stands for anything within a folder, <code>**</code> for
              any number of folders.
            </>
          }
        >
          {(control) => (
            <input
              {...control}
              required
              autoComplete="off"
              spellCheck={false}
              value={draft.path}
              onChange={({ target }) => put({ path: target.value })}
            />
          )}
        </Field>
        <Field
          label="Token (optional)"
          hint="Only where the repository is not public: one that may read it. It is stored encrypted."
        >
          {(control) => (
            <input
              {...control}
              type="password"
              autoComplete="off"
              value={draft.token}
              onChange={({ target }) => put({ token: target.value })}
            />
          )}
        </Field>
        <details className="form-more">
          <summary>More</summary>
          <Field
            label="Similarity, in per cent"
            hint="How much of a file must stay for a move with changes to keep its prompt. 100: only a file that moves as it is."
          >
            {(control) => (
              <input
                {...control}
                type="number"
                inputMode="numeric"
                required
                min={1}
                max={100}
                step={1}
                value={draft.similarity}
                onChange={({ target }) => put({ similarity: target.value })}
              />
            )}
          </Field>
        </details>
        <Refusal error={connection.error} />
        <div className="form-end">
          <span className="form-news" role="status">
            {connection.isPending && 'Reading the repository, for a few seconds.'}
          </span>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={connection.isPending}>
            {connection.isPending ? 'Connecting …' : 'Connect'}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
