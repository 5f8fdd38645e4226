import { useQuery } from '@tanstack/react-query'
import { observedFetch } from '../connection.ts'
import { isShared, shareToken } from './token.ts'

/** What a share link shows. */
interface Shared {
  prompt: { id: string; name: string }
  regression_id: number | null
  includes_signals: boolean
  expires_at: string
}

/** What the link shows, or why it shows nothing. */
export function useShared() {
  return useQuery({
    queryKey: ['shared'],
    enabled: isShared,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }): Promise<Shared | { ended: string }> => {
      const headers = { Authorization: `Bearer ${shareToken || 'none'}` }
      const response = await observedFetch('/api/v1/shared', { headers, signal, credentials: 'omit' })
      const { data, error } = await response.json()
      if (response.status === 401) return { ended: endings[error.reason as keyof typeof endings] ?? endings.unknown }
      if (!response.ok) throw new Error(error.message)
      return data
    },
  })
}

const endings = {
  expired: 'This link has expired.',
  revoked: 'This link was revoked.',
  unknown: 'This link is not valid.',
}

/** Whether comments and metadata are shown: a share link may leave them out. */
export function useShowsSignals(): boolean {
  const { data } = useShared()
  return !isShared || (data !== undefined && 'prompt' in data && data.includes_signals)
}
