import { isAncestor, readCommits, streamMessages } from '../git/log.ts'
import type { PullRefs } from '../git/pull-refs.ts'
import type { ReferenceReader } from './merge-references.ts'
import type { Mention, PullClaims } from './pull-claims.ts'
import { type PullTips, type Tip, tipOf } from './pull-tips.ts'

/** How far a developer's clock may be ahead. A head that is newer than that was committed after the landing. */
const maxClockDifferenceMs = 24 * 3_600_000
// Each costs a walk through the history. Real repositories have a handful.
const maxWalks = 20
const headsPerLog = 500
/** How many commits before the ones that are read now are searched for an earlier landing. */
const maxEarlierCommits = 20_000

interface SquashSearch {
  mirror: string
  /** The last commit that was read before; null on the first read. */
  from: string | null
  refs: PullRefs
  tips: PullTips
  claims: PullClaims
  readReference: ReferenceReader
}

interface Squash {
  mention: Mention
  tip: Tip
}

/**
 * Finds the squash of each pull request that only titles name. Forks and imported histories name the pull requests of another
 * repository: the heads of the same numbers here are from another time. Of several commits that may be the squash, one that the
 * forge made or that has the author of the head is preferred, then the first.
 */
export async function claimSquashes(search: SquashSearch, mentions: Mention[]): Promise<void> {
  const { mirror, refs, tips, claims } = search
  const open = mentions.filter(({ number }) => refs.headOf(number) !== null && claims.claimFor(number) === undefined)
  const landedTips = await readLandedTips(search, open)
  const found = new Map<number, Squash>()
  let walks = 0
  for (const [number, ofNumber] of Map.groupBy(open, ({ number }) => number)) {
    const outside = tips.tipOf(number)
    const tip = outside ?? landedTips.get(refs.headOf(number) as string)
    const mention = tip === undefined ? undefined : bestOf(ofNumber, tip)
    if (tip === undefined || mention === undefined) continue
    if (outside === undefined && mention.sha !== tip.sha) {
      // If the default branch had the head before, by a merge or because the pull request leads from the default branch to a
      // branch of releases, this commit only mentions it.
      if (++walks > maxWalks || (await isAncestor(mirror, tip.sha, mention.sha))) continue
    }
    found.set(number, { mention, tip })
  }
  await dropEarlierLandings(search, found)
  for (const [number, { mention }] of found) {
    claims.add({ number, proof: 'squash', landing: mention.sha, landed: [mention.sha] })
  }
}

function bestOf(mentions: Mention[], tip: Tip): Mention | undefined {
  // They are newest first, and sorting keeps the order of equals.
  const isCandidate = (mention: Mention) =>
    canBeSquash(tip, mention) && (!mention.isBare || isMadeByKnown(mention, tip))
  const candidates = mentions.filter(isCandidate).toReversed()
  return candidates.toSorted((a, b) => rankOf(b, tip) - rankOf(a, tip))[0]
}

export function canBeSquash(tip: Tip, { committedAt }: Pick<Mention, 'committedAt'>): boolean {
  return tip.committedAt <= committedAt + maxClockDifferenceMs
}

function rankOf(mention: Mention, tip: Tip): number {
  return Number(mention.byForge) + Number(isSameAuthor(mention, tip))
}

/** Whether the forge, the author of the head, or a maintainer who had added the head to the pull request made the commit. */
function isMadeByKnown(mention: Mention, tip: Tip): boolean {
  return rankOf(mention, tip) > 0 || isSame(mention.committer, tip.author)
}

export function isSameAuthor({ author }: Pick<Mention, 'author'>, tip: Tip): boolean {
  return isSame(author, tip.author)
}

function isSame(one: Mention['author'], other: Mention['author']): boolean {
  return one.email === other.email || one.name === other.name
}

/** The heads that the default branch contains although no merge brought them. */
async function readLandedTips({ mirror, refs, tips }: SquashSearch, mentions: Mention[]): Promise<Map<string, Tip>> {
  const numbers = new Set(mentions.map(({ number }) => number).filter((number) => tips.tipOf(number) === undefined))
  const heads = [...numbers].map((number) => refs.headOf(number) as string).filter(tips.hasHead)
  const found = new Map<string, Tip>()
  for (let start = 0; start < heads.length; start += headsPerLog) {
    const part = await readCommits(mirror, ['--no-walk=unsorted', ...heads.slice(start, start + headsPerLog)])
    for (const commit of part) found.set(commit.sha, tipOf(commit))
  }
  return found
}

/** Drops those that an earlier sync has seen landing, perhaps without changing a prompt. */
async function dropEarlierLandings({ mirror, from, readReference }: SquashSearch, found: Map<number, Squash>) {
  if (from === null || found.size === 0) return
  // As arguments of one call, 130,000 dates would overflow the stack.
  const oldestTip = found.values().reduce((oldest, { tip }) => Math.min(oldest, tip.committedAt), Number.MAX_VALUE)
  const oldest = oldestTip - maxClockDifferenceMs
  const age = `--max-age=${Math.max(0, Math.floor(oldest / 1_000))}`
  for await (const commit of streamMessages(mirror, ['--first-parent', '-n', String(maxEarlierCommits), age, from])) {
    const number = readReference(commit)?.number
    const squash = number === undefined ? undefined : found.get(number)
    if (number !== undefined && squash !== undefined && canBeSquash(squash.tip, commit)) found.delete(number)
  }
}
