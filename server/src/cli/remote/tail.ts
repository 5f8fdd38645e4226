import { setTimeout as pause } from 'node:timers/promises'
import { type Command, InvalidArgumentError } from 'commander'
import type { Prompt, Promptledger, Signal } from '../../../../client/src/index.ts'
import { exitCodes, Failure } from '../failure.ts'
import { remoteCommand, withLedger } from './command.ts'
import { isRequestError, isTemporary } from './connection.ts'
import { formatTime } from './figures.ts'
import { findPrompt, promptHelp } from './find-prompt.ts'
import type { Screen } from './screen.ts'
import { styled, type Text } from './text.ts'

interface Options {
  lines: number
  follow: boolean
}

const maxLines = 1_000

export function signalsCommands(program: Command): void {
  const signals = program.command('signals').description("show a prompt's signals")
  remoteCommand(signals, 'tail', [
    'promptledger signals tail support-reply',
    'promptledger signals tail support-reply -n 100 --no-follow --json',
  ])
    .summary('print the newest signals, and new ones as they arrive')
    .description(
      'print the newest signals, the last one at the bottom, and new ones as they arrive, until Ctrl-C. With --json: one object per line',
    )
    .argument('<prompt>', promptHelp)
    .option('-n, --lines <count>', `how many to start with, up to ${maxLines}`, countArgument, 10)
    .option('--no-follow', 'stop after these')
    .action((reference: string, options: Options, command: Command) =>
      withLedger(command, async (ledger, screen) => {
        const prompt = await findPrompt(ledger, reference)
        await tail(ledger, screen, prompt, options)
      }),
    )
}

function countArgument(text: string): number {
  const count = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN
  if (!(count <= maxLines)) throw new InvalidArgumentError(`Must be a number from 0 to ${maxLines}.`)
  return count
}

async function tail(ledger: Promptledger, screen: Screen, prompt: Prompt, { lines, follow }: Options): Promise<void> {
  const show = (signals: Signal[]) => {
    if (screen.json) for (const signal of signals) screen.value(signal)
    else if (signals.length > 0) screen.lines(signals.map(signalLine))
  }
  const newest = await lastSignals(ledger, prompt.id, lines)
  show(newest)
  if (!follow) return
  const stop = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort())
  await followSignals({ ledger, promptId: prompt.id, known: newest, signal: stop.signal, show, note: screen.note })
  throw new Failure(exitCodes.interrupted, '')
}

/** Time, vote, version and comment of a signal. */
function signalLine({ value, created_at, version, comment, metadata }: Signal): Text {
  const vote = value === 'positive' ? styled('green', '+ positive') : styled('red', '- negative')
  return [
    styled('dim', formatTime(created_at).concat(created_at.slice(16, 19))),
    ' ',
    vote,
    version === null ? '' : ['  ', styled('yellow', String(version).slice(0, 12))],
    comment === null ? '' : `  ${comment}`,
    metadata === null ? '' : ['  ', styled('dim', JSON.stringify(metadata))],
  ]
}

const pageSize = 100
// Of one poll. A busier prompt loses the oldest of them, and the output says how many.
const maxPages = 10
const minDelayMs = 1_000
const maxIdleDelayMs = 5_000
const maxFailureDelayMs = 30_000
// Signals become visible when they are committed, which may be a moment after one with a later time.
const overlapMs = 10_000

/** The newest signals, oldest first. */
async function lastSignals(ledger: Promptledger, promptId: string, count: number): Promise<Signal[]> {
  const signals = new Map<number, Signal>()
  for (let page = 1; signals.size < count; page++) {
    const { data } = await ledger.signals.list(promptId, { page, limit: Math.min(count, pageSize) })
    for (const signal of data) signals.set(signal.id, signal)
    if (data.length === 0) break
  }
  return [...signals.values()].slice(0, count).reverse()
}

interface Following {
  ledger: Promptledger
  promptId: string
  /** Already shown, oldest first. */
  known: Signal[]
  /** Ends the following. */
  signal: AbortSignal
  show: (signals: Signal[]) => void
  note: (text: string) => void
}

/** Polls for new signals until it is aborted: slower while none arrive, and slower still while the service is away. */
async function followSignals({ ledger, promptId, known, signal, show, note }: Following): Promise<void> {
  // Signals that arrived before are not new, also those that were not shown.
  const start = known.at(-1)?.created_at ?? (await newestTime(ledger, promptId)) ?? ''
  let newest = start
  let seen = new Set<number>()
  let delayMs = minDelayMs
  let isAway = false
  while (!signal.aborted) {
    await pause(delayMs, undefined, { signal }).catch(() => {})
    if (signal.aborted) return
    try {
      const since = newest === '' ? undefined : new Date(Date.parse(newest) - overlapMs).toISOString()
      const { signals, isComplete } = await signalsSince(ledger, promptId, since, signal)
      if (isAway) note('The service responds again.')
      isAway = false
      const fresh = signals.filter(({ id, created_at }) => created_at > start && !seen.has(id))
      if (!isComplete) note(`More than ${maxPages * pageSize} signals arrived. The oldest of them are not shown.`)
      show(fresh)
      seen = new Set(signals.map(({ id }) => id))
      newest = signals.at(-1)?.created_at ?? newest
      delayMs = fresh.length > 0 ? minDelayMs : Math.min(delayMs * 1.5, maxIdleDelayMs)
    } catch (error) {
      if (signal.aborted) return
      if (!isRequestError(error) || !isTemporary(error)) throw error
      if (!isAway) note(`${error.message}. Trying again…`)
      isAway = true
      delayMs = Math.min(delayMs * 2, maxFailureDelayMs)
    }
  }
}

async function newestTime(ledger: Promptledger, promptId: string): Promise<string | null> {
  const { data } = await ledger.signals.list(promptId, { limit: 1 })
  return data[0]?.created_at ?? null
}

async function signalsSince(ledger: Promptledger, promptId: string, since: string | undefined, signal: AbortSignal) {
  const found = new Map<number, Signal>()
  for (let page = 1; page <= maxPages; page++) {
    const options = { signal, maxRetries: 0 }
    const { data, pagination } = await ledger.signals.list(promptId, { since, page, limit: pageSize }, options)
    for (const each of data) found.set(each.id, each)
    if (page >= (pagination.total_pages ?? 0)) return { signals: [...found.values()].reverse(), isComplete: true }
  }
  return { signals: [...found.values()].reverse(), isComplete: false }
}
