import { hash } from 'node:crypto'
import type { TrialMessage } from '../domain/alerts/message.ts'
import { percent } from '../domain/impact/model/explanation.ts'
import type { Repository } from '../domain/repositories/repository.ts'
import type { ArmFindings } from '../domain/trials/findings.ts'
import type { CommitStatus } from '../forges/forge-api.ts'
import { line } from './line.ts'
import { linkToPrompt } from './links.ts'
import { code, points } from './pull-comment-text.ts'
import { timeOf } from './text.ts'

const maxPrompts = 20
const maxNameLength = 80

/** The comment of a trial, which is edited while it runs. Words of others are in code spans only. */
export function trialCommentText(message: TrialMessage, publicUrl: string, marker: string): string {
  const { trial, prompts, at } = message
  const { findings, commitSha, share } = trial
  const shown = prompts.slice(0, maxPrompts).map(({ prompt }) => {
    return `[${code(prompt.name, maxNameLength)}](${linkToPrompt(prompt, publicUrl).url})`
  })
  const more = prompts.length - shown.length
  const rows =
    findings === null ? [] : [row('Live version', findings.arms.control), row('This commit', findings.arms.candidate)]
  return [
    `**Promptledger trial: ${headings[message.event](message)}**`,
    `${percent(share)} of the units get ${code(commitSha.slice(0, 7), 7)} of ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}. Later pushes are not served.`,
    ...(rows.length === 0
      ? []
      : [['| | Units | Voters | Positive |', '|---|---:|---:|---:|', ...rows].join('\n'), rangeText(message)]),
    `_Promptledger edits this comment while the trial runs, most recently at ${timeOf(at)}._`,
    marker,
  ].join('\n\n')
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

function rangeText({ trial: { findings } }: TrialMessage): string {
  if (findings?.difference == null || findings.interval === null) return 'No difference can be computed yet.'
  const [low, high] = findings.interval
  const wait = findings.daysLeft === null ? '' : ` About ${findings.daysLeft} days until a verdict at today's traffic.`
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
