import type { Repository } from '@promptledger/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'
import { Confirm } from '../ui/confirm.tsx'
import { refreshRepositories } from './queries.ts'

interface Props {
  repository: Repository
  onClose: () => void
}

export function Disconnect({ repository, onClose }: Props) {
  const queries = useQueryClient()
  const disconnection = useMutation({
    mutationFn: () => ledger.repositories.disconnect(repository.id),
    onSuccess: () => refreshRepositories(queries),
  })
  return (
    <Confirm
      title="Disconnect this repository?"
      act="Disconnect"
      state={disconnection}
      onConfirm={() => disconnection.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p className="confirm-subject">
        <code>{repository.url}</code>
      </p>
      <p>
        It is no longer followed: changes no longer show up, its webhook is refused and its token is forgotten. Its
        prompts and their history stay.
      </p>
    </Confirm>
  )
}
