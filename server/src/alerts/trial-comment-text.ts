import { hash } from 'node:crypto'
import type { LabelMessage, TrialMessage } from '../domain/alerts/message.ts'
import { percent } from '../domain/impact/model/explanation.ts'
import type { Repository } from '../domain/repositories/repository.ts'
import type { ArmFindings } from '../domain/trials/trial.ts'
import type { CommitStatus } from '../forges/forge-api.ts'
import { line } from './line.ts'
import { linkToPrompt } from './links.ts'
import { code, points } from './pull-comment-text.ts'
import { timeOf } from './text.ts'

const maxPrompts = 20
const maxNameLength = 80
const maxReasonLength = 1_000

/** The comment of a trial, which is edited while it runs. Words of others are in code spans only. */
export function trialCommentText(message: TrialMessage, publicUrl: string, marker: string): string {
  const { trial, prompts, at } = message
  const { findings, commitSha } = trial
  const shown = prompts.slice(0, maxPrompts).map(({ prompt }) => {
    return `[${code(prompt.name, maxNameLength)}](${linkToPrompt(prompt, publicUrl).url})`
  })
  const more = prompts.length - shown.length
  const rows =
    findings === null ? [] : [row('Live version', findings.arms.control), row('This commit', findings.arms.candidate)]
  return [
    `**Promptledger trial: ${headings[message.event](message)}**`,
    servedText(
      message,
      `${code(commitSha.slice(0, 7), 7)} of ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
    ),
    ...(rows.length === 0
      ? []
      : [['| | Units | Voters | Positive |', '|---|---:|---:|---:|', ...rows].join('\n'), rangeText(message)]),
    `_Promptledger edits this comment while the trial runs, most recently at ${timeOf(at)}._`,
    marker,
  ].join('\n\n')
}

/** Says why a label has no effect. The reason may quote names of others. */
export function refusedLabelText({ reason, at }: LabelMessage, marker: string): string {
  return [
    '**Promptledger: this label starts no trial**',
    code(reason, maxReasonLength),
    'Remove the label and set it again to retry.',
    `_${timeOf(at)}_`,
    marker,
  ].join('\n\n')
}

/** Who gets the candidate now. An attempt can be later than the event, so the state at that time counts. */
function servedText({ event, trial: { state, share, ending } }: TrialMessage, what: string): string {
  const isEnded = state === 'ended' || ending !== null || event === 'trial.worse' || event === 'trial.stopped'
  if (isEnded) return `The trial of ${what} has ended: everyone gets the live version, unless it was merged.`
  if (state === 'paused') return `The trial of ${what} is paused: everyone gets the live version.`
  return `${percent(share)} of the units get ${what}. Later pushes are not served.`
}

const headings: Record<TrialMessage['event'], (message: TrialMessage) => string> = {
  'trial.started': () => 'running, no verdict yet',
  'trial.better': () => 'users rate this commit higher than the live version. Ready to merge',
  'trial.worse': () => 'users rate this commit lower than the live version. Stopped',
  'trial.stopped': () => 'ended',
  'trial.mismatch': () => 'no verdict, because units or voters do not come in the promised share',
}

function row(name: string, { exposures, voters, positive }: ArmFindings): string {
  const rate = voters === 0 ? '–' : percent(positive / voters)
  return `| ${name} | ${exposures.toLocaleString('en')} | ${voters.toLocaleString('en')} | ${rate} |`
}

function rangeText({ event, trial: { findings } }: TrialMessage): string {
  if (event === 'trial.mismatch') return 'There is no difference to show while the shares are wrong.'
  if (findings?.difference == null || findings.interval === null) return 'No difference can be computed yet.'
  const [low, high] = findings.interval
  const days = Math.max(1, Math.round(findings.daysLeft ?? 0))
  const wait =
    findings.daysLeft === null
      ? ''
      : ` About ${days} ${days === 1 ? 'day' : 'days'} until a verdict at today's traffic.`
  return `Difference ${points(findings.difference)} points, with 95% confidence from ${points(low)} to ${points(high)}, however often you look.${wait}`
}

export function trialStatus(message: TrialMessage, repository: Repository, publicUrl: string): CommitStatus {
  const [first] = message.prompts
  return {
    context: `promptledger trial (${line(repository.path, 80)})`,
    key: `promptledger-trial-${hash('sha256', repository.hookId).slice(0, 12)}`,
    isFailure: message.event === 'trial.worse',
    description: headings[message.event](message).slice(0, 140),
    url: first === undefined ? publicUrl : linkToPrompt(first.prompt, publicUrl).url,
  }
}
