import type { Message, ShiftMessage, ToldPrompt } from '../domain/alerts/message.ts'
import { isWebUrl } from '../domain/history/entry.ts'
import type { Prompt } from '../domain/prompt.ts'

export interface Link {
  label: string
  url: string
}

// Slack rejects a message with a longer one than 3,000.
const maxUrlLength = 2_000

/** The links of a whole message, the most important first. */
export function linksOf(message: Message, publicUrl: string): Link[] {
  if ('dedupKey' in message) {
    const [worst] = message.prompts as [ToldPrompt]
    // Several prompts are dismissed one by one.
    const canDismiss = message.event === 'regression.opened' && message.prompts.length === 1
    return [
      linkToChange(worst, publicUrl),
      ...linkToPull(message.change),
      ...(canDismiss ? [linkToUndo(worst, publicUrl), linkToDismiss(worst, publicUrl)] : []),
    ]
  }
  if ('trial' in message) {
    return [
      ...message.prompts.slice(0, 1).map(({ prompt }) => linkToPrompt(prompt, publicUrl)),
      ...linkToPull({ prNumber: message.trial.prNumber, prUrl: message.prUrl }),
    ]
  }
  switch (message.event) {
    case 'shift.unexplained': {
      const [first] = message.prompts
      return first === undefined ? [] : [linkToShift(first, publicUrl)]
    }
    case 'limit.near':
    case 'limit.reached':
      return [{ label: 'See the usage', url: `${publicUrl}/usage` }]
    case 'repository.failing':
    case 'repository.recovered':
      return [{ label: 'See the repository', url: `${publicUrl}/repositories/${message.repository.id}` }]
    case 'digest.weekly':
      return [{ label: 'See the prompts', url: `${publicUrl}/prompts` }]
    case 'alert.test':
      return [{ label: 'Open Promptledger', url: publicUrl }]
  }
}

export function linkToChange({ prompt, entryId }: Pick<ToldPrompt, 'prompt' | 'entryId'>, publicUrl: string): Link {
  return { label: 'See the change', url: `${publicUrl}/prompts/${prompt.publicId}?entry=${entryId}` }
}

type ToldRegression = Pick<ToldPrompt, 'prompt' | 'regressionId'>

export function linkToRegression({ prompt, regressionId }: ToldRegression, publicUrl: string): Link {
  return { label: 'See the regression', url: `${publicUrl}/prompts/${prompt.publicId}/regressions/${regressionId}` }
}

export function linkToDismiss(told: ToldRegression, publicUrl: string): Link {
  return { ...linkToRegression(told, publicUrl), label: 'Dismiss' }
}

/** Opens the page of the regression with the form that proposes a revert. */
export function linkToUndo(told: ToldRegression, publicUrl: string): Link {
  return { label: 'Undo', url: `${linkToRegression(told, publicUrl).url}?undo` }
}

export function linkToPrompt({ publicId }: Pick<Prompt, 'publicId'>, publicUrl: string): Link {
  return { label: 'See the prompt', url: `${publicUrl}/prompts/${publicId}` }
}

export function linkToShift(
  { prompt, shiftId }: Pick<ShiftMessage['prompts'][number], 'prompt' | 'shiftId'>,
  publicUrl: string,
): Link {
  const { label, url } = linkToPrompt(prompt, publicUrl)
  return shiftId === undefined ? { label, url } : { label: 'See the shift', url: `${url}/shifts/${shiftId}` }
}

/** Empty without a pull request, and if its URL is not one that a browser should open. */
function linkToPull({ prNumber, prUrl }: { prNumber: number | null; prUrl: string | null }): Link[] {
  const url = prUrl === null || !isWebUrl(prUrl) ? null : new URL(prUrl).href
  return url === null || url.length > maxUrlLength ? [] : [{ label: `Pull request #${prNumber}`, url }]
}
