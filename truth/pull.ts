import { isHeadOfAnother, isInvented, type Landing, type ProofContext, prove } from './proof.ts'
import type { Recorded } from './recorded.ts'
import { count, type Tallies } from './tally.ts'

/** Compares the pull request that was recorded for a commit with the one that git proves. */
export async function comparePull(
  tallies: Tallies,
  context: ProofContext,
  landing: Landing,
  recorded: Recorded[],
): Promise<void> {
  const { commit } = landing
  const proof = await prove(context, landing)
  const numbers = new Set(recorded.map(({ number }) => number).filter((number) => number !== null))
  const [number] = numbers
  const said = number === undefined ? 'none' : `#${number}`
  if (!('numbers' in proof)) {
    if (number === undefined) {
      if (proof.kind === 'unknown') tallies.invented.unknown++
      return
    }
    const isPlausible = proof.kind === 'unknown' && isMentioned(context, landing, number)
    if (isPlausible || !(await isInvented(context, commit, number))) tallies.invented.unknown++
    else count(tallies.invented, 'wrong', commit.sha, `${said}; ${proof.reason} ("${commit.subject}")`)
    return
  }
  const tally = tallies[proof.kind]
  const expected = proof.numbers.map((each) => `#${each}`).join(' or ')
  if (number !== undefined && numbers.size === 1 && proof.numbers.includes(number)) tally.right++
  else {
    const outcome = number === undefined ? 'missing' : 'wrong'
    count(tally, outcome, commit.sha, `${said} instead of ${expected}: ${proof.reason} ("${commit.subject}")`)
    if (number === undefined) return
    tally.missing++
    if (await isInvented(context, commit, number))
      count(tallies.invented, 'wrong', commit.sha, `${said}, not ${expected}`)
  }
}

function isMentioned(context: ProofContext, { commit }: Landing, number: number): boolean {
  const { heads, copies } = context
  if (context.pages.get(commit.sha)?.numbers.includes(number)) return true
  const isNamed = commit.named.numbers.includes(number) && heads.byNumber.has(number)
  const isCopied = copies.partly.has(commit.sha) && !isHeadOfAnother(context, commit, number)
  return heads.byNumber.size === 0 || isNamed || isCopied
}
