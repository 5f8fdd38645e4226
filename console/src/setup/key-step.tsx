import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Link } from 'wouter'
import { ledger } from '../ledger.ts'
import { useMutation } from '../mutation.ts'
import { Button } from '../ui/button.tsx'
import { CopyField } from '../ui/copy-field.tsx'
import { FormError } from '../ui/form-error.tsx'
import { Notice } from '../ui/notice.tsx'

interface Props {
  isAdmin: boolean
  /** False once signals arrive: then there is a key. */
  isNeeded: boolean
  secret: string | null
  onCreate: (secret: string) => void
}

const labels = { name: 'Name' }

export function KeyStep({ isAdmin, isNeeded, secret, onCreate }: Props) {
  if (secret !== null) {
    return (
      <>
        <CopyField label="Key" value={secret} />
        <Notice tone="caution">
          Copy the key now. It will not be shown again after you reload or close the console.
        </Notice>
      </>
    )
  }
  if (!isNeeded) return null
  if (!isAdmin) {
    return <p>Ask an administrator for a key of role ingest, which can record signals and nothing else.</p>
  }
  return <NewKey onCreate={onCreate} />
}

function NewKey({ onCreate }: Pick<Props, 'onCreate'>) {
  const queryClient = useQueryClient()
  const [name, setName] = useState('My application')
  const creation = useMutation({
    mutationFn: () => ledger.keys.create({ name: name.trim(), role: 'ingest' }),
    onSuccess: async ({ key }) => {
      onCreate(key)
      await queryClient.invalidateQueries({ queryKey: ['keys'] })
    },
    // The secret stays with the checklist alone.
    gcTime: 0,
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    creation.mutate()
  }
  return (
    <form onSubmit={submit}>
      <p>
        A key of role ingest, which can record signals and nothing else. <Link href="/keys">Keys</Link> lists all keys.
      </p>
      <div className="set-up-row">
        <input
          aria-label="Name of the key"
          required
          autoComplete="off"
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
        <Button type="submit" kind="primary" busy={creation.isPending}>
          Create key
        </Button>
      </div>
      <FormError error={creation.error} labels={labels} />
    </form>
  )
}
