import type { HistoryEntryDetails, Prompt, Promptledger } from '../../../../client/src/index.ts'
import { exitCodes, Failure } from '../failure.ts'
import { isRequestError } from './connection.ts'
import { findPrompt } from './find-prompt.ts'
import { styled, type Text } from './text.ts'

/** How the help describes a version. */
export const versionHelp =
  'number of a change, such as 42; or <prompt>@<change>, with the number or the commit; or a prompt, for its live version'

type NamedPrompt = Pick<Prompt, 'id' | 'name'>

export interface Version {
  prompt: NamedPrompt
  entryId: number
}

/** The change that a text such as `support-reply@42`, `support-reply@c3c3c3c`, `42` or `support-reply` names. */
export async function findVersion(
  ledger: Promptledger,
  text: string,
  other: NamedPrompt | null = null,
): Promise<Version> {
  const { prompt: reference, change } = splitVersion(text, other !== null)
  if (reference === null && other === null) return findEntry(ledger, text)
  const prompt = reference === null ? (other as NamedPrompt) : await findPrompt(ledger, reference)
  if (change === 'live') return { prompt, entryId: await liveEntry(ledger, prompt) }
  if (/^\d+$/.test(change)) return entryOfPrompt(ledger, prompt, change)
  return { prompt, entryId: await entryOfCommit(ledger, prompt, change) }
}

const changePattern = /^(?:\d{1,15}|[0-9a-f]{7,64}|live)$/i

/** Only with another prompt is a text like a commit one: a prompt may have such a name. */
function splitVersion(text: string, hasPrompt: boolean): { prompt: string | null; change: string } {
  const at = text.lastIndexOf('@')
  const change = text.slice(at + 1).toLowerCase()
  if (at > 0 && changePattern.test(change)) return { prompt: text.slice(0, at), change }
  const isChange = hasPrompt ? changePattern.test(text) : /^\d{1,15}$/.test(text)
  return isChange ? { prompt: null, change: text.toLowerCase() } : { prompt: text, change: 'live' }
}

async function findEntry(ledger: Promptledger, text: string): Promise<Version> {
  try {
    const { prompt, entry } = await ledger.history.find(Number(text))
    return { prompt, entryId: entry.id }
  } catch (error) {
    if (!isRequestError(error) || error.code !== 'not_found') throw error
    throw new Failure(exitCodes.notFound, `There is no change ${text}. See 'promptledger log <prompt>'.`)
  }
}

async function entryOfPrompt(ledger: Promptledger, prompt: NamedPrompt, text: string): Promise<Version> {
  const version = await findEntry(ledger, text)
  if (version.prompt.id === prompt.id) return version
  throw new Failure(
    exitCodes.notFound,
    `Change ${text} is a change of ${version.prompt.name}, not of ${prompt.name}. See 'promptledger log ${prompt.id}'.`,
  )
}

async function liveEntry(ledger: Promptledger, prompt: NamedPrompt): Promise<number> {
  const { entry } = await ledger.history.live(prompt.id)
  if (entry === null) throw new Failure(exitCodes.notFound, `No change of ${prompt.name} is live.`)
  return entry.id
}

async function entryOfCommit(ledger: Promptledger, prompt: NamedPrompt, commit: string): Promise<number> {
  const { data } = await ledger.versions.list(prompt.id, { q: commit })
  const found = data.find(({ entry }) => entry.commit_sha.startsWith(commit))
  if (found !== undefined) return found.entry.id
  throw new Failure(
    exitCodes.notFound,
    `No change of ${prompt.name} went live at commit ${commit}. See 'promptledger log ${prompt.id}'.`,
  )
}

export function textLines(text: string): Text[] {
  return text.replace(/\n$/, '').split('\n')
}

const reasons = {
  absent: 'the file does not exist',
  too_large: 'it is too large',
  unavailable: 'the repository no longer has it',
  available: '',
}

/** Says why the text before or after a change cannot be shown. */
export function missingText(
  side: 'before' | 'after',
  details: Pick<HistoryEntryDetails, 'before_state' | 'after_state'>,
): Text {
  const state = side === 'before' ? details.before_state : details.after_state
  // A newer service may know further states.
  return styled('yellow', `The text ${side} this change is not known: ${reasons[state] ?? state}.`)
}
