import type { Repository } from '@promptledger/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ledger } from '../ledger.ts'
import { refreshRepositories, useRepository } from './repository-query.ts'

const syncTimeoutMs = 60_000

/** A repository, and a way to sync it now. A sync has finished once the repository reports another sync or error than before. */
export function useSync(id: number) {
  const queryClient = useQueryClient()
  const [requested, setRequested] = useState<{ before: Repository; at: number } | null>(null)
  const isInProgress = ({ last_sync_at: lastSyncAt, last_error: lastError }: Repository) =>
    requested !== null &&
    lastSyncAt === requested.before.last_sync_at &&
    lastError === requested.before.last_error &&
    Date.now() - requested.at < syncTimeoutMs
  const repository = useRepository(id, isInProgress)
  const sync = useMutation({
    mutationFn: (_before: Repository) => ledger.repositories.sync(id),
    onSuccess: async (_response, before) => {
      setRequested({ before, at: Date.now() })
      await refreshRepositories(queryClient)
    },
  })
  return { repository, sync, isSyncing: repository.data !== undefined && isInProgress(repository.data) }
}
