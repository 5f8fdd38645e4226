import type { Invitation } from '@promptledger/client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'
import { useMutation } from '../mutation.ts'
import { Button } from '../ui/button.tsx'
import { FormError } from '../ui/form-error.tsx'
import { LoadError } from '../ui/load-state.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'

/** The invitations that can still be accepted. */
export function OpenInvitations() {
  const queryClient = useQueryClient()
  const invitations = useQuery({
    queryKey: ['invitations'],
    queryFn: ({ signal }) => Array.fromAsync(ledger.invitations.list({}, { signal })),
  })
  const revocation = useMutation({
    mutationFn: (id: number) => ledger.invitations.revoke(id),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['invitations'] }),
  })
  if (invitations.isError) return <LoadError error={invitations.error} retry={invitations.refetch} />
  if (invitations.data === undefined || invitations.data.length === 0) return null
  const columns: Column<Invitation>[] = [
    {
      header: 'For',
      cell: ({ email }) => (email === null ? 'Anyone with the link' : <UntrustedText text={email} />),
    },
    { header: 'Role', cell: ({ role }) => role },
    { header: 'Link', cell: ({ hint }) => <code className="muted">…{hint}</code> },
    { header: 'By', cell: ({ created_by: by }) => <UntrustedText text={by} /> },
    { header: 'Expires', className: 'nowrap', cell: ({ expires_at: at }) => <Time at={at} as="relative" /> },
    {
      header: 'Actions',
      isHeaderHidden: true,
      cell: ({ id, hint }) => (
        <Button
          busy={revocation.isPending}
          onClick={() => revocation.mutate(id)}
          aria-label={`Revoke the invitation …${hint}`}
        >
          Revoke
        </Button>
      ),
    },
  ]
  return (
    <section className="people-section" aria-labelledby="invitations">
      <h2 id="invitations">Invitations</h2>
      <Table caption="Invitations" columns={columns} rows={invitations.data} rowKey={({ id }) => id} />
      <FormError error={revocation.error} />
    </section>
  )
}
