import type { Repository } from './repository.ts'
import { isLocalUrl, webUrlOf } from './repository-url.ts'

/** How a delivery identifies its repository. Each part is null if the payload lacks it. */
export interface ReportedRepository {
  /** The forge's own ID, which survives renames and transfers. */
  id: string | null
  /** The owner and name, such as `acme/prompts`. */
  fullName: string | null
  webUrl: string | null
}

type KnownRepository = Pick<Repository, 'url' | 'webUrl' | 'forgeId'>

/**
 * Why a delivery is not about this repository; null if it is, or if its payload does not say. A webhook of an organisation
 * reports all its repositories, and one URL with its secret can be used for several.
 *
 * Hosts are not compared, because a self-hosted forge often has several names. The path of the connected URL decides: it is what
 * git fetches. If the path differs, the repository may have been renamed or transferred, which keeps its ID.
 */
export function foreignReason(known: KnownRepository, reported: ReportedRepository): string | null {
  const names = namesOf(reported)
  if (reported.id === null && names.length === 0) return null
  const path = pathOf(known.url)
  if (names.includes(path)) return null
  if (known.forgeId !== null && reported.id !== null)
    return known.forgeId === reported.id ? null : foreign(known, reported)
  // A folder on this machine has a path of its own.
  if (isLocalUrl(known.url) || names.length === 0) return null
  // The ssh path, or that of a proxy, can have a prefix. The web page is where an earlier delivery said that it moved to.
  const isSame = names.some(
    (name) => path.endsWith(`/${name}`) || (known.webUrl !== null && name === pathOf(known.webUrl)),
  )
  return isSame ? null : foreign(known, reported)
}

function foreign(known: KnownRepository, { id, fullName, webUrl }: ReportedRepository): string {
  const name = fullName ?? webUrl ?? `the repository with the ID ${id}`
  return (
    `this delivery is about ${name}, not about ${pathOf(webUrlOf(known))}. Use the webhook of this repository only there. If it ` +
    'was renamed, change its URL and redeliver'
  )
}

function namesOf({ fullName, webUrl }: ReportedRepository): string[] {
  return [fullName, webUrl === null ? null : pathOf(webUrl)].flatMap((name) => (name ? [normalised(name)] : []))
}

/** The path of a repository or web URL, without `.git`. Forges ignore case. */
function pathOf(url: string): string {
  const [, scpPath] = /^[^/]+@[^/:]+:(.+)$/.exec(url) ?? []
  return normalised(scpPath ?? URL.parse(url)?.pathname ?? url)
}

function normalised(path: string): string {
  return path
    .toLowerCase()
    .replace(/^\/+|\/+$/g, '')
    .replace(/\.git$/, '')
}
