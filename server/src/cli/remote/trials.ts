import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Trial, TrialArm, TrialState } from '../../../../client/src/index.ts'
import { trialStates } from '../../domain/trials/trial.ts'
import { integerArgument } from '../arguments.ts'
import { formatCount, formatNumber } from '../output.ts'
import { noteRest, remoteCommand, take, withLedger } from './command.ts'
import { formatDay, formatDifference, formatShare } from './figures.ts'
import { findPrompt } from './find-prompt.ts'
import { columns, styled, type Text } from './text.ts'

interface TryOptions {
  commit?: string
  share?: number
  ramp?: number[]
  votes: number
  prompt?: string[]
  repository?: number
}

interface ChangeOptions {
  by?: string
  share?: number
  pause?: true
  resume?: true
  end?: true
}

export function trialCommands(program: Command): void {
  remoteCommand(program, 'try', [
    'promptledger try 41 --share 10%',
    'promptledger try 41 --commit 8f3a1c5e7b9d2f4a6c8e0b1d3f5a7c9e1b3d5f7a --ramp 5%,20%,50% --votes 200',
  ])
    .summary('serve a pull request to some of your users')
    .description('serve a pull request or a commit to a share of your users, chosen at random, before it is merged')
    .argument('<pull-or-commit>', 'number of a pull request, or the full hash of a commit', candidateArgument)
    .option(
      '--commit <hash>',
      'head of the pull request that you reviewed: needed if it comes from a fork',
      hashArgument,
    )
    .option('--share <share>', 'how many users get it, such as 10%', shareArgument)
    .option('--ramp <shares>', 'shares to serve in turn, such as 5%,20%,50%', rampArgument)
    .option('--votes <count>', 'votes until the next share of a ramp', integerArgument, 200)
    .option('--prompt <prompt...>', 'only these prompts, instead of all that it changes')
    .option('--repository <id>', 'the repository, if several are connected', integerArgument)
    .action((candidate: Candidate, { commit, share, ramp, votes, prompt, repository }: TryOptions, command: Command) =>
      withLedger(command, async (ledger, screen) => {
        const trial = await ledger.trials.start({
          ...(commit !== undefined && { commit }),
          ...candidate,
          ...(share !== undefined && { share }),
          ...(ramp !== undefined && { ramp: { shares: ramp, votes } }),
          ...(prompt !== undefined && { prompts: prompt }),
          ...(repository !== undefined && { repository_id: repository }),
        })
        if (screen.json) return screen.value(trial)
        screen.lines(describeTrial(trial))
        screen.note(`To follow it: promptledger trial ${trial.id}`)
      }),
    )

  remoteCommand(program, 'trials', ['promptledger trials', 'promptledger trials support-reply --state ended'])
    .summary('list trials')
    .description('list trials, the newest first')
    .argument('[prompt]', 'only of this prompt: its ID, name or path, or a part that only one prompt has')
    .addOption(new Option('--state <state>', 'only those in this state').choices(trialStates))
    .option('-n, --limit <count>', 'how many', integerArgument, 100)
    .action((reference: string | undefined, options: { state?: TrialState; limit: number }, command: Command) =>
      withLedger(command, async (ledger, screen) => {
        const { state, limit } = options
        const prompt = reference === undefined ? null : await findPrompt(ledger, reference)
        const filter = { ...(state !== undefined && { state }), ...(prompt !== null && { prompt: prompt.id }) }
        const { items, total } = await take(limit, (page) => ledger.trials.list({ ...filter, ...page }))
        if (screen.json) return screen.value(items)
        if (total === 0) return screen.note('No trials.')
        screen.lines(trialTable(items, screen.width))
        noteRest(screen, items, total, 'trial')
      }),
    )

  remoteCommand(program, 'trial', [
    'promptledger trial trl_… --by metadata.model',
    'promptledger trial trl_… --share 20%',
  ])
    .summary('show or change a trial')
    .description('show a trial, or change its share, pause, resume or end it')
    .argument('<trial>', 'ID of the trial, which starts with trl_')
    .option('--by <segment>', 'also by segment, such as metadata.model')
    .option('--share <share>', 'serve this share, such as 20%', shareArgument)
    .addOption(new Option('--pause', 'serve everyone the live version for now').conflicts(['resume', 'end']))
    .addOption(new Option('--resume', 'continue a paused trial').conflicts('end'))
    .option('--end', 'end it for good')
    .action((id: string, { by, share, pause, resume, end }: ChangeOptions, command: Command) =>
      withLedger(command, async (ledger, screen) => {
        const state: TrialState | undefined = end ? 'ended' : pause ? 'paused' : resume ? 'running' : undefined
        const change = { ...(share !== undefined && { share }), ...(state !== undefined && { state }) }
        const isChange = Object.keys(change).length > 0
        const changed = isChange ? await ledger.trials.update(id, change) : null
        const trial =
          changed === null || by !== undefined ? await ledger.trials.get(id, by === undefined ? {} : { by }) : changed
        if (screen.json) return screen.value(trial)
        screen.lines([...describeTrial(trial), ...segmentsOf(trial, screen.width)])
      }),
    )
}

type Candidate = { pull: number } | { commit: string }

function candidateArgument(text: string): Candidate {
  if (/^#?[1-9]\d{0,5}$/.test(text)) return { pull: Number(text.replace('#', '')) }
  if (isHash.test(text)) return { commit: text }
  throw new InvalidArgumentError('Must be the number of a pull request, or the full hash of a commit.')
}

const isHash = /^([0-9a-f]{40}|[0-9a-f]{64})$/i

function hashArgument(text: string): string {
  if (isHash.test(text)) return text
  throw new InvalidArgumentError('Must be a full hash of 40 or 64 digits.')
}

function shareArgument(text: string): number {
  const [, number, percent] = /^(\d{1,3}(?:\.\d{1,4})?)(%?)$/.exec(text) ?? []
  const share = percent === '%' ? Number(number) / 100 : Number(number)
  if (!(share >= 0 && share <= 1)) throw new InvalidArgumentError('Must be from 0% to 100%, such as 10%.')
  return share
}

function rampArgument(text: string): number[] {
  return text.split(',').map((part) => shareArgument(part.trim()))
}

function describeTrial(trial: Trial): Text[] {
  const { control, candidate, prompts, started_at, started_by, days_left } = trial
  const difference = formatDifference(trial)
  return [
    styled('bold', `${trial.id}  ${candidateOf(trial)}  ${stateOf(trial)}`),
    `Prompts    ${prompts.map(({ name }) => name).join(', ')}`,
    `Share      ${formatShare(trial.share)}`,
    `Started    ${formatDay(started_at)} by ${started_by}`,
    `Live       ${armText(control)}`,
    `Candidate  ${armText(candidate)}`,
    ...(difference === '' ? [] : [`Difference ${difference}`]),
    verdictLine(trial),
    ...(trial.disagreeing_keys ?? []).map(({ name }) =>
      styled('yellow', `The key ${name} reports units in another share than promised.`),
    ),
    ...(days_left === null
      ? []
      : [
          `About ${formatCount(Math.max(1, Math.round(days_left)), 'day')} until a verdict at the traffic of the last day.`,
        ]),
  ]
}

function segmentsOf({ segments }: Trial, width: number | null): Text[] {
  if (segments === undefined) return []
  const heads = [
    { title: segments.key.toUpperCase(), flexible: true },
    { title: 'VERDICT' },
    { title: 'LIVE' },
    { title: 'CANDIDATE' },
    { title: 'DIFFERENCE', optional: true },
  ]
  const rows = segments.values.map(({ value, other, control, candidate, verdict, ...found }): Text[] => [
    other ? '(other)' : (value ?? '(none)'),
    verdictText({ verdict, mismatch: false }),
    rateText(control),
    rateText(candidate),
    formatDifference(found) || '–',
  ])
  return ['', ...columns(heads, rows, width)]
}

function trialTable(trials: Trial[], width: number | null): Text[] {
  const heads = [
    { title: 'TRIAL' },
    { title: 'WHAT' },
    { title: 'PROMPT', flexible: true },
    { title: 'STATE' },
    { title: 'SHARE' },
    { title: 'LIVE' },
    { title: 'CANDIDATE' },
    { title: 'VERDICT' },
    { title: 'SINCE', optional: true },
  ]
  const rows = trials.map((trial): Text[] => [
    styled('yellow', trial.id),
    candidateOf(trial),
    styled('bold', trial.prompts.map(({ name }) => name).join(', ')),
    stateOf(trial),
    formatShare(trial.share),
    rateText(trial.control),
    rateText(trial.candidate),
    verdictText(trial),
    formatDay(trial.started_at),
  ])
  return columns(heads, rows, width)
}

function candidateOf({ pr_number, commit_sha }: Trial): string {
  return pr_number === null ? commit_sha.slice(0, 7) : `#${pr_number} (${commit_sha.slice(0, 7)})`
}

function stateOf({ state, ended_by }: Trial): string {
  return ended_by === null ? state : `${state} (${ended_by})`
}

function rateText({ rate, voters }: Pick<TrialArm, 'rate' | 'voters'>): string {
  return rate === null ? '–' : `${formatShare(rate)} of ${formatNumber(voters)}`
}

function armText(arm: TrialArm): string {
  const units = formatCount(arm.exposures, 'unit')
  return arm.rate === null
    ? `no votes, ${units}`
    : `${rateText(arm)} ${arm.voters === 1 ? 'voter' : 'voters'} positive, ${units}`
}

function verdictText({ verdict, mismatch }: Pick<Trial, 'verdict' | 'mismatch'>): Text {
  if (mismatch) return styled('yellow', 'mismatch')
  if (verdict === null) return '–'
  return styled(verdict === 'better' ? 'green' : 'red', verdict)
}

function verdictLine({ verdict, mismatch }: Trial): Text {
  if (mismatch) return styled('yellow', 'No verdict: units or voters do not come in the promised share.')
  if (verdict === null) return 'No verdict yet.'
  return verdict === 'better'
    ? styled('green', 'Better than the live version.')
    : styled('red', 'Worse than the live version.')
}
