/** Requests in flight and the bytes of their bodies: those of the process, of an organisation or of a key. */
export interface Occupancy {
  reads: number
  writes: number
  /** Deliveries of forges. The bytes of their bodies are counted as they arrive: see webhooks/uploads.ts. */
  webhooks: number
  /** Of pages. Strangers can send them, because the token that authorises one is part of its body. */
  votes: number
  bodyBytes: number
}

export type RequestKind = 'reads' | 'writes' | 'webhooks' | 'votes'

export function emptyOccupancy(): Occupancy {
  return { reads: 0, writes: 0, webhooks: 0, votes: 0, bodyBytes: 0 }
}

export function shareOf({ reads, writes, webhooks, votes, bodyBytes }: Occupancy, percent: number): Occupancy {
  const part = (amount: number) => Math.ceil((amount * percent) / 100)
  return {
    reads: part(reads),
    writes: part(writes),
    webhooks: part(webhooks),
    votes: part(votes),
    bodyBytes: part(bodyBytes),
  }
}

export function hasRoom(used: Occupancy, limit: Occupancy, kind: RequestKind, bodyBytes: number): boolean {
  return used[kind] < limit[kind] && used.bodyBytes + bodyBytes <= limit.bodyBytes
}

export function occupy(used: Occupancy, kind: RequestKind, bodyBytes: number): void {
  used[kind]++
  used.bodyBytes += bodyBytes
}

export function vacate(used: Occupancy, kind: RequestKind, bodyBytes: number): void {
  used[kind]--
  used.bodyBytes -= bodyBytes
}
