import { linkToChange, linkToRegression } from '../alerts/links.ts'
import { code, inert, points, prose } from '../alerts/pull-comment-text.ts'
import { timeOf } from '../alerts/text.ts'
import { type EntryDetails, isWebUrl } from '../domain/history/entry.ts'
import { percent } from '../domain/impact/model/explanation.ts'
import type { Prompt } from '../domain/prompt.ts'
import type { Proposal } from '../domain/proposals/proposal.ts'
import type { ListedRegression } from '../domain/regressions/regression.ts'
import type { Tally } from '../domain/signals/tally.ts'
import { type Instant, isoTime } from '../domain/time.ts'

/** The evidence for a revert. */
export interface Evidence {
  prompt: Prompt
  regression: ListedRegression
  entry: EntryDetails
  /** By day, from before the change until now. */
  days: (Tally & { start: Instant })[]
  /** The newest negative comments, or why they are not shown. */
  comments: { text: string; at: Instant }[] | 'public'
}

type Proposed = Pick<Proposal, 'mode' | 'files' | 'proposedBy'>

const maxNameLength = 80

/** The title of the pull request, and the first line of its commit. */
export function proposalTitle({ prompt, regression, entry }: Evidence, { mode }: Pick<Proposed, 'mode'>): string {
  const { rateBefore, rateAfter } = regression
  const what = entry.prNumber === null ? `commit ${entry.commitSha.slice(0, 7)}` : `pull request ${entry.prNumber}`
  const rates = `${percent(rateBefore)} → ${percent(rateAfter)} positive`
  const how = mode === 'revert' ? 'Revert' : 'Restore the text before'
  return `${how} ${what}: ${inert(prompt.name)} got worse (${rates})`
}

export function commitMessage(evidence: Evidence, proposed: Proposed): string {
  const { regression, entry } = evidence
  const { rateBefore, rateAfter, interval } = regression
  const [low, high] = interval.map(points)
  const lines = [
    proposalTitle(evidence, proposed),
    '',
    `This takes back ${entry.commitSha}${proposed.files === 'prompt' ? ` in ${inert(entry.path ?? '')}` : ''}.`,
    `Positive signals: ${percent(rateBefore)} before, ${percent(rateAfter)} after (${low} to ${high} points, 95% confidence range).`,
  ]
  return `${lines.join('\n')}\n`
}

/** A description in the Markdown that all forges share, in which words of others are inert. */
export function proposalText(evidence: Evidence, proposed: Proposed, publicUrl: string, maxLength: number): string {
  const { prompt, regression, entry, comments } = evidence
  const name = code(prompt.name, maxNameLength)
  const { rateBefore, rateAfter, signalsBefore, signalsAfter, interval, liveFrom, id } = regression
  const told = { prompt, entryId: entry.id, regressionId: id }
  const since = timeOf(liveFrom ?? entry.createdAt)
  const parts = [
    `Users rate ${name} worse since ${changeLink(entry)} by ${code(entry.user.name, maxNameLength)} went live at ${since}.`,
    [
      '| | Positive | Signals |',
      '|---|---|---|',
      `| Before | ${percent(rateBefore)} | ${count(signalsBefore)} |`,
      `| After | ${percent(rateAfter)} | ${count(signalsAfter)} |`,
      `| Difference | ${points(interval[0])} to ${points(interval[1])} points | 95% confidence range |`,
    ].join('\n'),
    prose(regression.explanation, 600),
    ...chart(evidence),
    ...(comments === 'public'
      ? ['Comments of users are left out, because this repository is public.']
      : quotes(comments)),
    `[See the change and its chart](${linkToChange(told, publicUrl).url}) · [see the regression](${linkToRegression(told, publicUrl).url})`,
    `${whatItDoes(evidence, proposed)} Promptledger never merges it. Once it is merged, the regression counts as repaired.`,
    `_Proposed by ${proposed.proposedBy === null ? 'Promptledger' : `${code(proposed.proposedBy, maxNameLength)} with Promptledger`}._`,
  ]
  const text = parts.join('\n\n')
  // The chart and comments are bounded, so only a forge with a short limit needs this.
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`
}

function whatItDoes({ prompt, entry }: Evidence, { mode, files }: Proposed): string {
  const what =
    files === 'change' ? 'all files of that change' : code(prompt.path ?? entry.path ?? prompt.name, maxNameLength)
  if (mode === 'restore')
    return `This brings back ${what} as before that change. Later changes of the same files are lost.`
  return `This takes back that change in ${what}. Later changes of the same files stay.`
}

function changeLink({ prNumber, prUrl, commitSha }: EntryDetails): string {
  const text = prNumber === null ? `commit ${commitSha.slice(0, 7)}` : `pull request ${prNumber}`
  // A URL with a bracket or a space would end the link early.
  const isSafe = prUrl !== null && isWebUrl(prUrl) && !/[\s()<>\\]/.test(prUrl)
  return isSafe ? `[${text}](${prUrl})` : text
}

const maxDays = 30
const barLength = 20

/** A chart of text, which every forge shows as it is. */
function chart({ days, regression, entry }: Evidence): string[] {
  const shown = days.filter(({ positive, negative }) => positive + negative > 0).slice(-maxDays)
  if (shown.length < 2) return []
  const live = regression.liveFrom ?? entry.createdAt
  const first = shown.find(({ start }) => start + 24 * 3_600_000 > live)
  const lines = shown.map((day) => {
    const { start, positive, negative } = day
    const rate = positive / (positive + negative)
    const filled = Math.round(rate * barLength)
    const bar = `${'█'.repeat(filled)}${'░'.repeat(barLength - filled)}`
    const mark = day === first ? '  ← live' : ''
    return `${isoTime(start).slice(0, 10)}  ${percent(rate).padStart(4)}  ${bar}  of ${count(positive + negative)}${mark}`
  })
  return [['Positive signals by day:', '', '```text', ...lines, '```'].join('\n')]
}

function quotes(comments: { text: string; at: Instant }[]): string[] {
  const shown = comments.flatMap(({ text, at }) => {
    const said = prose(text, 300)
    return said === '' ? [] : [`> ${said} (${timeOf(at)})`]
  })
  return shown.length === 0 ? [] : ['The newest negative comments:', shown.join('\n>\n')]
}

function count(number: number | null): string {
  return number === null ? '?' : number.toLocaleString('en')
}
