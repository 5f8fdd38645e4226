import type { ListedSession } from '@promptledger/client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ledger } from '../ledger.ts'
import { useMutation } from '../mutation.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Checkbox } from '../ui/field.tsx'
import { FormError } from '../ui/form-error.tsx'
import { LoadError } from '../ui/load-state.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'

/** One's own sessions; for admins, those of everyone if they ask. */
export function Sessions({ isAdmin }: { isAdmin: boolean }) {
  const queryClient = useQueryClient()
  const [everyone, setEveryone] = useState(false)
  const sessions = useQuery({
    queryKey: ['sessions', everyone],
    queryFn: ({ signal }) => Array.fromAsync(ledger.sessions.list(everyone ? { everyone } : {}, { signal })),
  })
  const end = useMutation({
    mutationFn: (id: string) => ledger.sessions.end(id),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['sessions'] }),
  })
  const columns: Column<ListedSession>[] = [
    {
      header: 'Session',
      cell: ({ name, client, is_current: isCurrent }) => (
        <>
          <span className="key-name">
            <strong>
              <UntrustedText text={name} />
            </strong>
            {isCurrent && <Badge>This browser</Badge>}
          </span>
          <span className="muted">{client === null ? 'Unknown browser' : <UntrustedText text={client} />}</span>
        </>
      ),
    },
    { header: 'Since', className: 'nowrap', cell: ({ created_at: at }) => <Time at={at} as="relative" /> },
    { header: 'Ends', className: 'nowrap', cell: ({ expires_at: at }) => <Time at={at} as="relative" /> },
    {
      header: 'Actions',
      isHeaderHidden: true,
      cell: ({ id, is_current: isCurrent }) =>
        !isCurrent && (
          <Button busy={end.isPending} onClick={() => end.mutate(id)}>
            End session
          </Button>
        ),
    },
  ]
  return (
    <section className="people-section" aria-labelledby="sessions">
      <h2 id="sessions">{everyone ? 'Sessions of everyone' : 'Your sessions'}</h2>
      {isAdmin && (
        <Checkbox className="show-inactive" checked={everyone} onChange={setEveryone}>
          Show the sessions of everyone
        </Checkbox>
      )}
      {sessions.isError && <LoadError error={sessions.error} retry={sessions.refetch} />}
      {sessions.data && <Table caption="Sessions" columns={columns} rows={sessions.data} rowKey={({ id }) => id} />}
      <FormError error={end.error} />
    </section>
  )
}
