import { prefetchAttention } from './prompts/attention-queries.ts'
import { listFrom } from './prompts/prompt-table.tsx'
import { promptsQuery } from './prompts/prompts-query.ts'
import { queryClient } from './query-client.ts'
import { isSignedOut } from './sessions/ended-session.ts'
import { sessionQuery } from './sessions/session.ts'
import { isShared } from './shared/token.ts'

const maxDelayMs = 100

/**
 * Requests the session, and then what home shows, before anything is rendered: components send their requests only after they are
 * painted, one layer after the other. The browser has usually preloaded the responses, so that home is rendered once, with its
 * prompts. Others delay the page by 100 ms at most.
 */
export function prefetchFirstView(): Promise<unknown> {
  if (isShared) return Promise.resolve()
  const delay = new Promise((resolve) => setTimeout(resolve, maxDelayMs))
  return Promise.race([prefetchSessionAndHome(), delay])
}

async function prefetchSessionAndHome(): Promise<void> {
  await queryClient.prefetchQuery(sessionQuery)
  const session = queryClient.getQueryData(sessionQuery.queryKey)
  const { pathname, search } = window.location
  if (session === undefined || isSignedOut(session) || !['/', '/prompts'].includes(pathname)) return
  const prompts = queryClient.prefetchQuery(promptsQuery(listFrom(new URLSearchParams(pathname === '/' ? '' : search))))
  prefetchAttention(queryClient, session.key.role === 'admin')
  await prompts
}
