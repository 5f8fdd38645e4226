import type { RegressionMessage, ToldPrompt } from '../domain/alerts/message.ts'
import { isWebUrl } from '../domain/history/entry.ts'
import { code, count, fittingText, heading, inert, prose, referenceTo } from './pull-comment-text.ts'
import { timeOf } from './text.ts'

/** Set once: people may rename the issue. */
export function issueTitle({ prompts, change }: RegressionMessage): string {
  const [worst] = prompts as [ToldPrompt]
  const what = prompts.length === 1 ? inert(worst.prompt.name) : count(prompts.length, 'prompt')
  return `${what} got worse with ${referenceTo(change)}`
}

/** In the Markdown that all forges share. Issues can be public, so it has no comments of users, and the title of the change is on its page. */
export function issueText(message: RegressionMessage, publicUrl: string, ending: string[], maxLength: number): string {
  const { change } = message
  const reference = referenceTo(change)
  const linked =
    change.prUrl !== null && isWebUrl(change.prUrl) ? `[${reference}](${new URL(change.prUrl).href})` : reference
  return fittingText(message, publicUrl, maxLength, (evidence) => [
    heading(message),
    `The change is ${linked} by ${code(change.user.name, 80)}.`,
    ...evidence,
    ...ending,
  ])
}

/** Of an issue that is kept up to date. */
export function editedAt({ at }: RegressionMessage): string {
  return `_Promptledger edits this text when something changes, most recently at ${timeOf(at)}, and closes the issue when it is over._`
}

const maxReasons = 20

/** Why the issue is closed. */
export function closingText(message: RegressionMessage, ...ending: string[]): string {
  const reasons = message.prompts
    .slice(0, maxReasons)
    .map(({ prompt, explanation }) => `- ${code(prompt.name, 80)}: ${prose(explanation, 600)}`)
  return [heading(message), reasons.join('\n'), ...ending].join('\n\n')
}
