import type { SessionInfo } from '@promptledger/client'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import { ledger } from '../ledger.ts'
import { linksFor } from '../navigation.tsx'
import { changeLabel, titleOf } from '../prompt/entry-title.ts'
import { changePath, promptIdIn, promptPath, textSearchPath } from '../prompt/prompt-path.ts'
import { canEdit, canRunTrials } from '../sessions/rights.ts'
import { signOut } from '../sessions/session.ts'
import { useTheme } from '../theme.ts'
import { formatRelative } from '../ui/locale.ts'

export interface PaletteItem {
  key: string
  label: string
  /** What tells it from others with the same label. */
  note?: string
  /** Where it leads, or what it does. */
  to?: string
  run?: () => void
}

export interface PaletteGroup {
  name: string
  items: PaletteItem[]
}

const maxItems = 6
const maxQueryLength = 200

/** What a query finds, by kind. Groups without a match are left out. */
export function usePaletteGroups(session: SessionInfo, query: string, onShortcuts: () => void) {
  const q = query.slice(0, maxQueryLength)
  const [location] = useLocation()
  const promptId = promptIdIn(location)
  const found = useQuery({
    queryKey: ['palette', 'prompts', q],
    queryFn: async ({ signal }) =>
      (await ledger.prompts.list({ q, sort: '-last_change', limit: maxItems }, { signal })).data,
    placeholderData: keepPreviousData,
  })
  const versions = useQuery({
    queryKey: ['palette', 'versions', promptId, q],
    enabled: promptId !== undefined,
    queryFn: async ({ signal }) =>
      (await ledger.versions.list(promptId ?? '', { q, limit: maxItems }, { signal })).data,
    placeholderData: keepPreviousData,
  })
  const [theme, setTheme] = useTheme()
  const isAdmin = session.key.role === 'admin'
  const pages: PaletteItem[] = [
    ...linksFor(session).map(({ label, to }) => ({ key: to, label, to })),
    { key: '/docs', label: 'API reference', run: () => window.location.assign('/docs') },
  ]
  const nextTheme = theme === 'dark' ? 'light' : 'dark'
  const actions: PaletteItem[] = [
    ...(promptId === undefined
      ? []
      : [
          { key: 'send', label: 'Send signals of this prompt', to: `${promptPath(promptId)}?do=send` },
          ...(canEdit(session.key)
            ? [{ key: 'share', label: 'Share this prompt', to: `${promptPath(promptId)}?do=share` }]
            : []),
        ]),
    ...(canRunTrials(session.key) ? [{ key: 'try', label: 'Try a pull request', to: '/trials?try=1' }] : []),
    ...(isAdmin ? [{ key: 'connect', label: 'Connect a repository', to: '/repositories?connect=1' }] : []),
    { key: 'theme', label: `Switch to the ${nextTheme} theme`, run: () => setTheme(nextTheme) },
    { key: 'shortcuts', label: 'Show the keyboard shortcuts', run: onShortcuts },
    { key: 'sign-out', label: 'Sign out', run: () => void signOut() },
  ]
  const prompts = found.data ?? []
  const changes: PaletteItem[] =
    promptId === undefined
      ? prompts.flatMap(({ id, name, last_change: change }) =>
          change === null
            ? []
            : [
                {
                  key: `change ${change.id}`,
                  label: changeLabel(change),
                  note: `${name}, ${ago(change.created_at)}`,
                  to: changePath(id, change.id),
                },
              ],
        )
      : (versions.data ?? []).map(({ entry, message }) => ({
          key: `change ${entry.id}`,
          label: titleOf(entry, message),
          note: `${changeLabel(entry)}, ${ago(entry.created_at)}`,
          to: changePath(promptId, entry.id),
        }))
  const texts: PaletteItem[] = [
    q === ''
      ? { key: 'texts', label: 'Search in texts', to: '/texts' }
      : { key: 'texts', label: `Search the texts of all prompts for “${q}”`, to: textSearchPath(q) },
  ]
  const groups: PaletteGroup[] = [
    { name: 'Prompts', items: prompts.map(({ id, name }) => ({ key: id, label: name, to: promptPath(id) })) },
    { name: promptId === undefined ? 'Latest changes' : 'Changes of this prompt', items: changes },
    { name: 'Pages', items: pages.filter(matches(q)) },
    { name: 'Actions', items: actions.filter(matches(q)) },
    { name: 'Texts', items: texts },
  ]
  return { groups: groups.filter(({ items }) => items.length > 0), isPending: found.isFetching || versions.isFetching }
}

function ago(at: string): string {
  return formatRelative(new Date(at))
}

function matches(query: string) {
  const words = query.toLowerCase().split(/\s+/)
  return ({ label }: PaletteItem) => words.every((word) => label.toLowerCase().includes(word))
}
