import type { Regression, Shift } from '@promptledger/client'

export function promptPath(promptId: string): string {
  return `/prompts/${encodeURIComponent(promptId)}`
}

/** The prompt's page with this change beside the chart. */
export function changePath(promptId: string, entryId: number): string {
  return `${promptPath(promptId)}?entry=${entryId}`
}

/** The prompt whose page this is. */
export function promptIdIn(path: string): string | undefined {
  return /^\/prompts\/(pmt_\w+)/.exec(path)?.[1]
}

/** The page that searches the texts of all prompts for a phrase. */
export function textSearchPath(phrase: string): string {
  return `/texts?q=${encodeURIComponent(phrase)}`
}

/** The regression whose page this is. */
export function regressionIdIn(path: string): number | null {
  const [, id] = /^\/prompts\/pmt_\w+\/regressions\/(\d{1,15})$/.exec(path) ?? []
  return id === undefined ? null : Number(id)
}

export function regressionPath({ id, prompt }: Regression): string {
  return `${promptPath(prompt.id)}/regressions/${id}`
}

export function shiftPath({ id, prompt }: Shift): string {
  return `${promptPath(prompt.id)}/shifts/${id}`
}
