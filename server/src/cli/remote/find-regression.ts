import { InvalidArgumentError } from 'commander'
import type { Promptledger, Regression } from '../../../../client/src/index.ts'
import { exitCodes, Failure } from '../failure.ts'
import { take } from './command.ts'
import { findPrompt } from './find-prompt.ts'

const maxOpen = 1_000

export type ChangeReference = { number: number; isPull: boolean } | { commit: string }

export function changeReference(text: string): ChangeReference {
  if (/^#?[1-9]\d{0,14}$/.test(text)) return { number: Number(text.replace('#', '')), isPull: text.startsWith('#') }
  if (/^[0-9a-f]{7,64}$/i.test(text)) return { commit: text.toLowerCase() }
  throw new InvalidArgumentError('Must be the number of a pull request, change or regression, or a commit.')
}

/** The open regression of a change that a person names. */
export async function findRegression(
  ledger: Promptledger,
  change: ChangeReference,
  promptReference: string | undefined,
): Promise<Regression> {
  const prompt = promptReference === undefined ? null : await findPrompt(ledger, promptReference)
  const { items } = await take(maxOpen, (page) =>
    prompt === null
      ? ledger.regressions.list({ state: 'open', ...page })
      : ledger.regressions.listOfPrompt(prompt.id, { state: 'open', ...page }),
  )
  const named = namedBy(items, change)
  const [only, another] = named
  if (only === undefined) {
    throw new Failure(exitCodes.notFound, "No open regression is of this change. See 'promptledger regressions'.")
  }
  if (another === undefined) return only
  const isEither = 'number' in change && !change.isPull && named.some(({ id }) => id === change.number)
  const advice = isEither
    ? `Write '#${change.number}' for the pull request, or use --prompt or the commit`
    : 'Name the prompt with --prompt, or use the ID of the regression'
  throw new Failure(
    exitCodes.notFound,
    `Several open regressions match. ${advice}:`,
    named.map(
      ({ id, prompt, change: { id: changeId, commit_sha: commit, pr_number: pull } }) =>
        `  ${id}  ${prompt.name}  change ${changeId}, ${commit.slice(0, 12)}${pull === null ? '' : `, #${pull}`}`,
    ),
  )
}

/**
 * A pull request or a regression before a change. A number that means both is ambiguous: lists of regressions start with their IDs, and
 * people see the numbers of pull requests everywhere.
 */
function namedBy(items: Regression[], change: ChangeReference): Regression[] {
  if ('commit' in change) return items.filter((each) => each.change.commit_sha.startsWith(change.commit))
  const ofPull = items.filter((each) => each.change.pr_number === change.number)
  if (change.isPull) return ofPull
  const byId = items.filter((each) => each.id === change.number)
  const named = [...new Set([...ofPull, ...byId])]
  return named.length > 0 ? named : items.filter((each) => each.change.id === change.number)
}
