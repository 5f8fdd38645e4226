import { hash } from 'node:crypto'
import type { RegressionMessage, ToldPrompt } from '../domain/alerts/message.ts'
import type { HistoryEntry } from '../domain/history/entry.ts'
import { percent } from '../domain/impact/model/explanation.ts'
import type { RegressionState } from '../domain/regressions/regression.ts'
import type { Repository } from '../domain/repositories/repository.ts'
import type { CommitStatus } from '../forges/forge-api.ts'
import { line } from './line.ts'
import { linkToChange, linkToDismiss, linkToUndo } from './links.ts'
import { timeOf } from './text.ts'

const maxPrompts = 20
const maxNameLength = 80
const maxExplanationLength = 600

/**
 * A comment in the Markdown that all forges share. Pull requests can be public, so it has no comments of users. The pull request shows its
 * title and author itself.
 */
export function pullCommentText(
  message: RegressionMessage,
  publicUrl: string,
  marker: string,
  maxLength: number,
): string {
  const edited = `_Promptledger edits this comment when something changes, most recently at ${timeOf(message.at)}._`
  return fittingText(message, publicUrl, maxLength, (evidence) => [heading(message), ...evidence, edited, marker])
}

/** A text with as many prompts as fit. */
export function fittingText(
  message: RegressionMessage,
  publicUrl: string,
  maxLength: number,
  compose: (evidence: string[]) => string[],
): string {
  for (let promptCount = maxPrompts; ; promptCount--) {
    const text = compose(evidenceOf(promptCount, message, publicUrl)).join('\n\n')
    if (text.length <= maxLength || promptCount === 1) return text
  }
}

/** What became of the prompts, in a line. */
export function heading({ prompts }: Pick<RegressionMessage, 'prompts'>): string {
  return `**Promptledger: ${summaryOf(prompts)}**`
}

function evidenceOf(promptCount: number, { prompts }: RegressionMessage, publicUrl: string): string[] {
  const shown = prompts.slice(0, promptCount)
  const more = prompts.length - shown.length
  const [worst] = prompts as [ToldPrompt]
  return [
    [
      '| Prompt | Before | After | Difference | Now |',
      '|---|---|---|---|---|',
      ...shown.map((told) => tableRow(told, publicUrl)),
    ].join('\n'),
    shown.map((told) => `- ${code(told.prompt.name, maxNameLength)}: ${reason(told, publicUrl)}`).join('\n'),
    ...(more > 0 ? [`And ${count(more, 'more prompt')}.`] : []),
    `Live since ${timeOf(worst.liveFrom)}. Rates are the share of positive signals of users; differences are 95% confidence ranges.`,
  ]
}

/**
 * The hidden last line of a comment, by which we find our own. A reference definition that nothing refers to: Bitbucket would show an HTML
 * comment as text. The hash of the hook ID, which outsiders do not know, keeps others from guessing it.
 */
export function commentMarker({ hookId }: Pick<Repository, 'hookId'>, subject: string): string {
  return `[//]: # (promptledger ${hash('sha256', `${hookId} ${subject}`).slice(0, 24)})`
}

/** Whether a comment that a forge lists is the one with this marker. Quoting it in a reply is not enough. */
export function hasMarker(text: string, marker: string): boolean {
  return text.trimEnd().endsWith(`\n${marker}`)
}

/** The status of the merged commit. Its context has the path, because a repository can be connected with several paths. */
export function commitStatus({ prompts }: RegressionMessage, repository: Repository, publicUrl: string): CommitStatus {
  const [worst] = prompts as [ToldPrompt]
  const open = prompts.filter(({ state }) => state === 'open')
  const [first] = open
  const rates = first === undefined ? '' : `: ${percent(first.before.rate)} → ${percent(first.after.rate)} positive`
  const description = `${summaryOf(prompts)}${open.length === 1 ? rates : ''}`
  return {
    context: `promptledger (${line(repository.path, 80)})`,
    key: `promptledger-${hash('sha256', repository.hookId).slice(0, 12)}`,
    isFailure: open.length > 0,
    description,
    url: linkToChange(first ?? worst, publicUrl).url,
  }
}

function summaryOf(prompts: ToldPrompt[]): string {
  const states = new Set(prompts.map(({ state }) => state))
  if (states.has('open')) {
    const open = prompts.filter(({ state }) => state === 'open')
    return `users rate ${count(open.length, 'prompt')} worse since this change`
  }
  const [only] = states
  if (only !== undefined && states.size === 1) return endings[only](count(prompts.length, 'prompt'))
  return 'users no longer rate a prompt worse because of this change'
}

const endings: Record<RegressionState, (prompts: string) => string> = {
  open: (prompts) => `users rate ${prompts} worse since this change`,
  repaired: (prompts) => `repaired, users rate ${prompts} as before this change`,
  withdrawn: (prompts) => `taken back, the votes no longer show that this change made ${prompts} worse`,
  dismissed: (prompts) => `dismissed, ${prompts} got worse with this change`,
}

function tableRow(told: ToldPrompt, publicUrl: string): string {
  const { prompt, before, after, interval } = told
  const cells = [
    `[${code(prompt.name, maxNameLength)}](${linkToChange(told, publicUrl).url})`,
    `${percent(before.rate)} of ${before.signals.toLocaleString('en')}`,
    `${percent(after.rate)} of ${after.signals.toLocaleString('en')}`,
    `${points(interval[0])} to ${points(interval[1])} points`,
    stateOf(told, publicUrl),
  ]
  return `| ${cells.join(' | ')} |`
}

function stateOf(told: ToldPrompt, publicUrl: string): string {
  const { state, repairedBy, repairedEntry, prompt } = told
  switch (state) {
    case 'open':
      return '**worse**'
    case 'withdrawn':
      return 'taken back'
    case 'dismissed':
      return 'dismissed'
    case 'repaired': {
      const what = repairedBy === 'revert' ? 'reverted' : 'repaired'
      if (repairedEntry === null) return what
      return `${what} by [${referenceTo(repairedEntry)}](${linkToChange({ prompt, entryId: repairedEntry.id }, publicUrl).url})`
    }
  }
}

/** Without a sign in front of the number, by which the forge would mention one pull request in the other. */
export function referenceTo({ prNumber, commitSha }: Pick<HistoryEntry, 'prNumber' | 'commitSha'>): string {
  return prNumber === null ? `commit ${commitSha.slice(0, 7)}` : `pull request ${prNumber}`
}

function reason(told: ToldPrompt, publicUrl: string): string {
  const links = [
    `[See the change](${linkToChange(told, publicUrl).url})`,
    ...(told.state === 'open'
      ? [`[undo](${linkToUndo(told, publicUrl).url})`, `[dismiss](${linkToDismiss(told, publicUrl).url})`]
      : []),
  ]
  return `${prose(told.explanation, maxExplanationLength)} ${links.join(' · ')}`
}

export function points(difference: number): string {
  const value = Math.round(100 * difference)
  return value < 0 ? `−${-value}` : `+${value}`
}

export function count(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`
}

const wordJoiner = '\u2060'

/** A name of others. Forges interpret nothing inside a code span; emails about the comment may still look for mentions. */
export function code(text: string, maxLength: number): string {
  const inert = line(text, maxLength).replaceAll('`', "'").replaceAll('|', '¦').replaceAll('@', `@${wordJoiner}`)
  return `\`${inert || '?'}\``
}

/** A name of others in a title or a commit message, in which forges also look for mentions and references. */
export function inert(text: string): string {
  return separated(line(text, maxNameLength))
}

/**
 * A sentence that can contain words of others. Backslashes stop the markup. Forges look for mentions, references and addresses in the rendered
 * text, where a backslash is gone, so an invisible word joiner separates the sign from the name.
 */
export function prose(text: string, maxLength: number): string {
  const escaped = line(text, maxLength)
    .replaceAll('<', '‹')
    .replaceAll('>', '›')
    .replaceAll(/[\\`*_[\]|]/g, '\\$&')
  return separated(escaped)
}

/** Without mentions, references, addresses and commands such as `[skip ci]`. */
function separated(text: string): string {
  return text
    .replaceAll(/[@#!~%&$^[](?=[\p{L}\p{N}#_"\\])/gu, `$&${wordJoiner}`)
    .replaceAll(/:(?=\/\/)|\bwww(?=\.)|\bGH(?=-\d)/gi, `$&${wordJoiner}`)
}
