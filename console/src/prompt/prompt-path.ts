export function promptPath(promptId: string): string {
  return `/prompts/${encodeURIComponent(promptId)}`
}

/** The prompt's page with this change beside the chart. */
export function changePath(promptId: string, entryId: number): string {
  return `${promptPath(promptId)}?entry=${entryId}`
}
