/** The last millisecond of a day such as 2026-11-15 in the reader's time zone, so the key is shown to expire on that day. */
export function endOfDay(day: string): string | null {
  if (day === '') return null
  const [year, month, date] = day.split('-').map(Number) as [number, number, number]
  return new Date(year, month - 1, date, 23, 59, 59, 999).toISOString()
}
