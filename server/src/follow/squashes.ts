import { streamListed } from '../git/log.ts'
import { streamMentions } from './merge-references.ts'
import type { ClaimSearch } from './pull-ancestry.ts'
import type { Mention } from './pull-claims.ts'
import { isSameAuthor, isSamePerson, type Tip, tipOf } from './pull-tips.ts'

/** How far a developer's clock may be ahead. A head that is newer than that was committed after the landing. */
const maxClockDifferenceMs = 24 * 3_600_000

interface Squash {
  tip: Tip
  landed: string[]
}

/**
 * Finds the squash of each pull request that only titles name. Forks and imported histories name the pull requests of another
 * repository: the heads of the same numbers here are from another time, or began in another history. Of several commits that may
 * be the squash, one that the forge made or that has the author of the head is preferred, then the first.
 */
export async function claimSquashes(search: ClaimSearch, mentions: Mention[]): Promise<void> {
  const { refs, tips, claims, ancestry } = search
  const open = mentions.filter(({ number }) => refs.headOf(number) !== null && claims.claimFor(number) === undefined)
  const landedTips = await readLandedTips(search, open)
  const found = new Map<number, Squash>()
  for (const [number, ofNumber] of Map.groupBy(open, ({ number }) => number)) {
    const outside = tips.tipOf(number)
    const tip = outside ?? landedTips.get(refs.headOf(number) as string)
    if (tip === undefined) continue
    // If the default branch had the head before, by a merge or because the pull request leads from the default branch to a
    // branch of releases, the commit only mentions it.
    const canLand = ({ sha }: Mention) =>
      outside === undefined ? sha === tip.sha || !ancestry.contains(sha, tip.sha) : ancestry.beganBefore(sha, tip)
    const candidates = ofNumber.filter(canLand)
    const mention = bestOf(candidates, tip)
    if (mention !== undefined) found.set(number, { tip, landed: rowAround(mention, tip, candidates) })
  }
  await dropEarlierLandings(search, found)
  for (const [number, { landed }] of found) {
    const [landing] = landed
    if (landing !== undefined) claims.add({ number, proof: 'squash', landing, landed })
  }
}

const maxRowMs = 60_000

/**
 * The commit and its neighbours that have the same number and were committed together with it, newest first: a person who rebases a
 * pull request may add its number to the title of each commit. The forge squashes all of them into one.
 */
function rowAround(mention: Mention, tip: Tip, mentions: Mention[]): string[] {
  const isByHand = ({ byForge, isBare = false }: Mention) => !byForge && !isBare
  const isTogether = (other: Mention) =>
    other === mention ||
    (isByHand(mention) &&
      isByHand(other) &&
      isSameAuthor(other, tip) &&
      Math.abs(other.committedAt - mention.committedAt) <= maxRowMs)
  const row = mentions.filter(isTogether)
  let start = row.indexOf(mention)
  let end = start
  while (start > 0 && row[start - 1]?.parent === row[start]?.sha) start--
  while (end + 1 < row.length && row[end]?.parent === row[end + 1]?.sha) end++
  return row.slice(start, end + 1).map(({ sha }) => sha)
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
  return rankOf(mention, tip) > 0 || isSamePerson(mention.committer, tip.author)
}

/** The heads that the default branch contains although no merge brought them. */
async function readLandedTips({ run, refs, tips }: ClaimSearch, mentions: Mention[]): Promise<Map<string, Tip>> {
  const numbers = new Set(mentions.map(({ number }) => number).filter((number) => tips.tipOf(number) === undefined))
  const heads = [...numbers].map((number) => refs.headOf(number) as string).filter(tips.hasHead)
  const found = new Map<string, Tip>()
  for await (const commit of streamListed(run.mirror.path, heads)) found.set(commit.sha, tipOf(commit))
  return found
}

/** Drops those that an earlier sync has seen landing, perhaps without changing a prompt. */
async function dropEarlierLandings({ run, from, readReference }: ClaimSearch, found: Map<number, Squash>) {
  if (from === null || found.size === 0) return
  // As arguments of one call, 130,000 dates would overflow the stack.
  const oldestTip = found.values().reduce((oldest, { tip }) => Math.min(oldest, tip.committedAt), Number.MAX_VALUE)
  const oldest = oldestTip - maxClockDifferenceMs
  const age = `--max-age=${Math.max(0, Math.floor(oldest / 1_000))}`
  for await (const commit of streamMentions(run.mirror.path, from, [...found.keys()], [age])) {
    const number = readReference(commit)?.number
    const squash = number === undefined ? undefined : found.get(number)
    if (number !== undefined && squash !== undefined && canBeSquash(squash.tip, commit)) found.delete(number)
  }
}
