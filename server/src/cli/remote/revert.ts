import { type Command, InvalidArgumentError, Option } from 'commander'
import type {
  Promptledger,
  Proposal,
  ProposalFiles,
  ProposalMode,
  Regression,
  Trial,
} from '../../../../client/src/index.ts'
import { proposalFiles, proposalModes } from '../../domain/proposals/proposal.ts'
import { exitCodes, Failure } from '../failure.ts'
import { remoteCommand, take, withLedger } from './command.ts'
import { isRequestError } from './connection.ts'
import { formatShares } from './figures.ts'
import { findPrompt } from './find-prompt.ts'

interface Options {
  prompt?: string
  mode: ProposalMode
  files: ProposalFiles
}

const maxOpen = 1_000

export function revertCommand(program: Command): void {
  remoteCommand(program, 'revert', [
    'promptledger revert 41',
    'promptledger revert 41 --prompt support-reply --mode restore',
  ])
    .summary('propose to take back a change that made a prompt worse')
    .description(
      'propose to take back a change that made a prompt worse: opens a pull request with the evidence, and never merges it. Ends the trial instead if ' +
        'the pull request is on trial',
    )
    .argument('<change>', 'number of the pull request, ID of the change or of the regression, or its commit', reference)
    .option('--prompt <prompt>', 'of this prompt, if it made several worse: its ID, name or path')
    .addOption(
      new Option('--mode <mode>', 'restore brings back the last good text, and loses later changes of the file')
        .choices(proposalModes)
        .default('revert'),
    )
    .addOption(
      new Option('--files <files>', 'take back only the file of the prompt, or all files of the change')
        .choices(proposalFiles)
        .default('prompt'),
    )
    .action((change: Reference, { prompt, mode, files }: Options, command: Command) =>
      withLedger(command, async (ledger, screen) => {
        const trial = prompt === undefined ? await endTrial(ledger, change) : null
        if (trial !== null) {
          if (screen.json) return screen.value(trial)
          return screen.lines([
            `Trial ${trial.id} of #${trial.pr_number} is ended: everyone gets the live version again.`,
          ])
        }
        const regression = await findRegression(ledger, change, prompt)
        const proposal = await propose(ledger, regression, { mode, files })
        if (screen.json) return screen.value(proposal)
        screen.lines([
          `${regression.prompt.name}: ${formatShares(regression.rate_before, regression.rate_after)} positive`,
        ])
        screen.lines([`Pull request #${proposal.pr_number} takes it back: ${proposal.pr_url}`])
      }),
    )
}

type Reference = { number: number; isPull: boolean } | { commit: string }

function reference(text: string): Reference {
  if (/^#?[1-9]\d{0,14}$/.test(text)) return { number: Number(text.replace('#', '')), isPull: text.startsWith('#') }
  if (/^[0-9a-f]{7,64}$/i.test(text)) return { commit: text.toLowerCase() }
  throw new InvalidArgumentError('Must be the number of a pull request, change or regression, or a commit.')
}

/** What is not merged yet is taken back by ending its trial. */
async function endTrial(ledger: Promptledger, change: Reference): Promise<Trial | null> {
  if (!('number' in change)) return null
  const active = await Promise.all(
    (['running', 'paused'] as const).map((state) => ledger.trials.list({ state, limit: 100 })),
  )
  const trial = active.flatMap(({ data }) => data).find(({ pr_number }) => pr_number === change.number)
  return trial === undefined ? null : ledger.trials.update(trial.id, { state: 'ended' })
}

async function findRegression(
  ledger: Promptledger,
  change: Reference,
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
  throw new Failure(
    exitCodes.notFound,
    'Several open regressions match. Name the prompt with --prompt, or use the ID of the regression:',
    named.map(({ id, prompt, change }) => `  ${id}  ${prompt.name}  change ${change.id}${pullOf(change.pr_number)}`),
  )
}

/** A pull request before a regression before a change: people see the numbers of pull requests everywhere. */
function namedBy(items: Regression[], change: Reference): Regression[] {
  if ('commit' in change) return items.filter((each) => each.change.commit_sha.startsWith(change.commit))
  const ofPull = items.filter((each) => each.change.pr_number === change.number)
  if (change.isPull || ofPull.length > 0) return ofPull
  const byId = items.filter((each) => each.id === change.number)
  return byId.length > 0 ? byId : items.filter((each) => each.change.id === change.number)
}

function pullOf(number: number | null): string {
  return number === null ? '' : `, #${number}`
}

async function propose(
  ledger: Promptledger,
  { prompt, id }: Regression,
  request: { mode: ProposalMode; files: ProposalFiles },
): Promise<Proposal> {
  try {
    return await ledger.regressions.propose(prompt.id, id, request)
  } catch (error) {
    if (!isRequestError(error) || error.code !== 'conflict') throw error
    const { commands, problem } = error.details as { commands?: string[]; problem?: string }
    const again = problem === 'overlap' ? ['', `  promptledger revert ${id} --mode restore`] : []
    const byHand = commands === undefined || commands.length === 0 ? [] : ['', ...commands.map((line) => `  ${line}`)]
    throw new Failure(exitCodes.failed, error.message, [...again, ...byHand])
  }
}
