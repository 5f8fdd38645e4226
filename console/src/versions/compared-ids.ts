import { useLive, useNeighbours } from './version-queries.ts'

export interface ComparedIds {
  /** Null if there is no such version. */
  a: number | null
  b: number | null
  isPending: boolean
  error: Error | null
  retry: () => unknown
}

/** The two versions in the URL. Without `b` the live one, without `a` the one before `b`. */
export function useComparedIds(promptId: string, params: URLSearchParams): ComparedIds {
  const [a, b] = [entryFrom(params.get('a')), entryFrom(params.get('b'))]
  const live = useLive(promptId)
  const to = b ?? live.data?.entry?.id ?? null
  const neighbours = useNeighbours(promptId, a === null ? to : null)
  const from = a ?? neighbours.data?.older ?? null
  const used = [...(b === null ? [live] : []), ...(a === null && to !== null ? [neighbours] : [])]
  const failed = used.find(({ isError }) => isError)
  return {
    a: from,
    b: to,
    isPending: used.some(({ isPending }) => isPending),
    error: failed?.error ?? null,
    retry: () => failed?.refetch(),
  }
}

function entryFrom(text: string | null): number | null {
  const id = Number(text)
  return Number.isInteger(id) && id > 0 ? id : null
}
