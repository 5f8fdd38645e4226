import type { Shift } from '@promptledger/client'
import { promptPath } from '../prompt/prompt-path.ts'

const aroundMs = 14 * 86_400_000

/** The prompt, with the chart around the time of the shift. */
export function shiftPath({ prompt, at }: Shift): string {
  const time = Date.parse(at)
  const from = new Date(time - aroundMs)
  const to = new Date(Math.min(time + aroundMs, Date.now()))
  return `${promptPath(prompt.id)}?from=${isoDate(from)}&to=${isoDate(to)}`
}

function isoDate(time: Date): string {
  return time.toISOString().slice(0, 'yyyy-mm-dd'.length)
}
