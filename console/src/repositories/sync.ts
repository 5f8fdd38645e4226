import type { Repository } from '@promptledger/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ledger } from '../ledger.ts'
import { refreshRepositories, useRepository } from './queries.ts'

const patience = 60_000

/** A repository, and a way to have it looked at now: under way until its last sync is another one than before. */
export function useSync(id: number) {
  const queries = useQueryClient()
  const [asked, setAsked] = useState<{ before: Repository; at: number } | null>(null)
  const isWaiting = ({ last_sync_at: syncedAt, last_error: error }: Repository) =>
    asked !== null &&
    syncedAt === asked.before.last_sync_at &&
    error === asked.before.last_error &&
    Date.now() - asked.at < patience
  const repository = useRepository(id, isWaiting)
  const sync = useMutation({
    mutationFn: (_before: Repository) => ledger.repositories.sync(id),
    onSuccess: async (_answer, before) => {
      setAsked({ before, at: Date.now() })
      await refreshRepositories(queries)
    },
  })
  return { repository, sync, isSyncing: repository.data !== undefined && isWaiting(repository.data) }
}
