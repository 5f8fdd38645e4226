import type { NewInvitation, Person } from '@promptledger/client'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ledger } from '../ledger.ts'
import { useMutation } from '../mutation.ts'
import { Field, RoleField } from '../ui/field.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { SecretDialog } from '../ui/secret-dialog.tsx'

const labels = { email: 'Email', role: 'Role' }

const roles: { role: Person['role']; description: string }[] = [
  { role: 'viewer', description: 'Reads everything that is not for admins only.' },
  { role: 'member', description: 'Also dismisses regressions, runs trials, shares prompts and deletes signals.' },
  { role: 'admin', description: 'Everything, including people, keys, repositories and alerts.' },
]

export function InvitePerson({ onClose }: { onClose: () => void }) {
  const queryClient = useQueryClient()
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Person['role']>('member')
  const invitation = useMutation({
    mutationFn: (body: NewInvitation) => ledger.invitations.create(body),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['invitations'] }),
    // Drop the link from the cache as soon as the dialog closes.
    gcTime: 0,
  })
  if (invitation.data !== undefined) {
    return (
      <SecretDialog
        title="Invitation created"
        noun="link"
        label="Invitation link"
        secret={invitation.data.url}
        recovery="revoke it and create another"
        onClose={onClose}
      >
        <p className="muted">
          It lets one person join as {invitation.data.role}, for 7 days.{' '}
          {invitation.data.is_mailed && 'The service also sends it by email.'}
        </p>
      </SecretDialog>
    )
  }
  return (
    <FormDialog
      title="Invite a person"
      mutation={invitation}
      labels={labels}
      submitLabel="Create invitation"
      onSubmit={() => invitation.mutate({ role, email: email.trim() || null })}
      onClose={onClose}
    >
      <Field label={labels.email} hint="The only address that may use the link. Leave empty for anyone who has it.">
        {(control) => (
          <input {...control} type="email" value={email} onChange={({ target }) => setEmail(target.value)} />
        )}
      </Field>
      <RoleField roles={roles} role={role} onChange={setRole} />
    </FormDialog>
  )
}
