import { type Command, Option } from 'commander'
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
import { remoteCommand, withLedger } from './command.ts'
import { isRequestError } from './connection.ts'
import { formatShares } from './figures.ts'
import { type ChangeReference, changeReference, findRegression } from './find-regression.ts'

interface Options {
  prompt?: string
  mode: ProposalMode
  files: ProposalFiles
}

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
    .argument(
      '<change>',
      'number of the pull request, ID of the change or of the regression, or its commit',
      changeReference,
    )
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
    .action((change: ChangeReference, { prompt, mode, files }: Options, command: Command) =>
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

/** What is not merged yet is taken back by ending its trial. */
async function endTrial(ledger: Promptledger, change: ChangeReference): Promise<Trial | null> {
  if (!('number' in change)) return null
  const active = await Promise.all(
    (['running', 'paused'] as const).map((state) => ledger.trials.list({ state, limit: 100 })),
  )
  const trial = active.flatMap(({ data }) => data).find(({ pr_number }) => pr_number === change.number)
  return trial === undefined ? null : ledger.trials.update(trial.id, { state: 'ended' })
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
