export const hour = 3_600_000
export const day = 24 * hour

export function floor(at: number, length: number): number {
  return Math.floor(at / length) * length
}

export function iso(at: number): string {
  return new Date(at).toISOString()
}

export function isoOrNull(at: number | null): string | null {
  return at === null ? null : iso(at)
}

/** Such as 2027-08. */
export function monthOf(at: number): string {
  return iso(at).slice(0, 7)
}

/** The first instant of the next month. */
export function resetOf(at: number): number {
  const date = new Date(at)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
}
