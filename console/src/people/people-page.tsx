import { useMutation } from '../mutation.ts'
import './people.css'
import type { Person, SessionInfo } from '@promptledger/client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { ledger } from '../ledger.ts'
import { PageHead } from '../page-head.tsx'
import { isSignedInPerson } from '../sessions/rights.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { FormError } from '../ui/form-error.tsx'
import { LoadState } from '../ui/load-state.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { TimeOr } from '../ui/time.tsx'
import { UntrustedText, visibleText } from '../ui/untrusted-text.tsx'
import { InvitePerson } from './invite-person.tsx'
import { OpenInvitations } from './open-invitations.tsx'
import { Sessions } from './sessions.tsx'
import { SignInCheck } from './sign-in-check.tsx'

const personRoles = ['viewer', 'member', 'admin'] as const

/** Who may sign in, and the sessions of the person who is signed in. */
export function PeoplePage({ session }: { session: SessionInfo }) {
  const isAdmin = session.key.role === 'admin'
  const [isInviting, setIsInviting] = useState(false)
  const people = useQuery({
    queryKey: ['people'],
    queryFn: ({ signal }) => Array.fromAsync(ledger.people.list({}, { signal })),
  })
  return (
    <>
      <PageHead title="People">
        {isAdmin && (
          <Button kind="primary" onClick={() => setIsInviting(true)}>
            <Plus aria-hidden="true" />
            Invite
          </Button>
        )}
      </PageHead>
      {isAdmin && <SignInCheck />}
      <LoadState query={people} what="people" />
      {people.data && <PeopleTable people={people.data} session={session} isAdmin={isAdmin} />}
      {isAdmin && <OpenInvitations />}
      <Sessions isAdmin={isAdmin} />
      {isSignedInPerson(session) && (
        <p className="muted people-keys">
          Keys of your own, for scripts and tools, are on the page <Link href="/keys">Keys</Link>. They end if you are
          disabled.
        </p>
      )}
      {isInviting && <InvitePerson onClose={() => setIsInviting(false)} />}
    </>
  )
}

interface TableProps {
  people: Person[]
  session: SessionInfo
  isAdmin: boolean
}

function PeopleTable({ people, session, isAdmin }: TableProps) {
  const [disabling, setDisabling] = useState<Person | null>(null)
  const [deleting, setDeleting] = useState<Person | null>(null)
  const queryClient = useQueryClient()
  const change = useMutation({
    mutationFn: ({ id, ...update }: { id: number; role?: Person['role']; disabled?: boolean }) =>
      ledger.people.update(id, update),
    onSuccess: refresh,
  })
  const remove = useMutation({ mutationFn: (id: number) => ledger.people.delete(id), onSuccess: refresh })
  function refresh() {
    const changed = ['people', 'session', 'sessions']
    return Promise.all(changed.map((key) => queryClient.invalidateQueries({ queryKey: [key] })))
  }
  const columns: Column<Person>[] = [
    { header: 'Name', cell: (person) => <PersonName person={person} isSelf={person.id === session.person?.id} /> },
    { header: 'Email', cell: ({ email }) => <UntrustedText text={email} /> },
    {
      header: 'Role',
      cell: (person) =>
        isAdmin && person.disabled_at === null ? (
          <select
            aria-label={`Role of ${visibleText(person.name)}`}
            value={person.role}
            disabled={change.isPending}
            onChange={({ target }) => change.mutate({ id: person.id, role: target.value as Person['role'] })}
          >
            {personRoles.map((role) => (
              <option key={role}>{role}</option>
            ))}
          </select>
        ) : (
          person.role
        ),
    },
    {
      header: 'Last sign-in',
      className: 'nowrap',
      cell: ({ signed_in_at: at }) => <TimeOr at={at} as="relative" none="Never" />,
    },
    ...(isAdmin ? [actions()] : []),
  ]
  function actions(): Column<Person> {
    return {
      header: 'Actions',
      isHeaderHidden: true,
      cell: (person) => (
        <div className="row-actions">
          <Link className="button plain" href={`/audit?person=${person.id}`}>
            Audit log
          </Link>
          {person.disabled_at === null ? (
            <Button onClick={() => setDisabling(person)} aria-label={`Disable ${visibleText(person.name)}`}>
              Disable
            </Button>
          ) : (
            <Button
              busy={change.isPending}
              onClick={() => change.mutate({ id: person.id, disabled: false })}
              aria-label={`Enable ${visibleText(person.name)}`}
            >
              Enable
            </Button>
          )}
          <Button onClick={() => setDeleting(person)} aria-label={`Delete ${visibleText(person.name)}`}>
            Delete
          </Button>
        </div>
      ),
    }
  }
  return (
    <>
      <Table
        caption="People"
        columns={columns}
        rows={people}
        rowKey={({ id }) => id}
        isDimmed={({ disabled_at: at }) => at !== null}
        empty={
          <EmptyState title="No one has joined yet">
            <p>Admins invite people. Until then, keys sign in.</p>
          </EmptyState>
        }
      />
      {disabling === null && <FormError error={change.error} />}
      {disabling !== null && (
        <ConfirmDialog
          title={`Disable ${disabling.name}?`}
          confirmLabel="Disable"
          mutation={change}
          onConfirm={() => change.mutate({ id: disabling.id, disabled: true }, { onSuccess: () => setDisabling(null) })}
          onClose={() => setDisabling(null)}
        >
          <p>
            They are signed out everywhere, and their keys are revoked. If you enable them again, they sign in and
            create new keys.
          </p>
        </ConfirmDialog>
      )}
      {deleting !== null && (
        <ConfirmDialog
          title={`Delete ${deleting.name}?`}
          confirmLabel="Delete"
          mutation={remove}
          onConfirm={() => remove.mutate(deleting.id, { onSuccess: () => setDeleting(null) })}
          onClose={() => setDeleting(null)}
        >
          <p>
            Their name and address are deleted, they are signed out everywhere, and their keys are revoked. Their
            comments stay without their name. The audit log keeps it. If sign-in lets them join, they can come back as
            someone new: to keep them out, disable them instead.
          </p>
        </ConfirmDialog>
      )}
    </>
  )
}

function PersonName({ person, isSelf }: { person: Person; isSelf: boolean }) {
  return (
    <span className="key-name">
      <strong>
        <UntrustedText text={person.name} />
      </strong>
      {isSelf && <Badge>You</Badge>}
      {person.disabled_at !== null && <Badge tone="caution">Disabled</Badge>}
    </span>
  )
}
