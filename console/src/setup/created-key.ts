import { useQuery, useQueryClient } from '@tanstack/react-query'

const queryKey = ['set-up', 'created-key']

/**
 * The key that was created here. It outlives the page but not the session, and only in memory: the service stores no more than
 * its hash, so a key that is lost on the way to another page would be lost for good.
 */
export function useCreatedKey(): [secret: string | null, set: (secret: string) => void] {
  const queryClient = useQueryClient()
  const { data } = useQuery<string | null>({
    queryKey,
    queryFn: () => null,
    enabled: false,
    initialData: null,
    gcTime: Number.POSITIVE_INFINITY,
  })
  return [data, (secret) => queryClient.setQueryData(queryKey, secret)]
}
