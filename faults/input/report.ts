import type { Answer } from './wire.ts'

/** What became of all requests. */
export interface Report {
  seed: number
  kinds: Map<string, number>
  statuses: Map<string, number>
  succeeded: Set<string>
  /** Closed without an answer. */
  closed: Map<string, number>
  asked: number
  /** By what is wrong with which operation: one of each will do. */
  wrong: Map<string, string>
}

export function newReport(seed: number): Report {
  return {
    seed,
    kinds: new Map(),
    statuses: new Map(),
    succeeded: new Set(),
    closed: new Map(),
    asked: 0,
    wrong: new Map(),
  }
}

export function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

/** Counts by name, in one line. */
export function told(counts: Map<string, number>): string {
  return [...counts]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')
}

/** Notes what nothing allows, with what it takes to send it again. */
export function note({ wrong, seed }: Report, what: string, of: string, bytes: Buffer, answer: Answer | null): void {
  const got = answer === null ? '' : `\n  ${answer.status} ${answer.body.toString('utf8', 0, 500)}`
  const title = `${of}, ${answer?.status ?? 'no answer'}: ${what}`
  wrong.set(title, `${title} (seed ${seed})${got}\n  printf '${escaped(bytes)}' | nc 127.0.0.1 3000`)
}

function escaped(bytes: Buffer): string {
  return bytes.toString('latin1').replaceAll(/[^\x20-\x7e]|['%\\]/g, (character) => {
    return `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`
  })
}
