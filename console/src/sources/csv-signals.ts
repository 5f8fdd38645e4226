import type { BatchSignal } from '@promptledger/client'
import { readCell } from '../../../server/src/domain/csv-cell.ts'

export const csvFields = ['value', 'prompt', 'subject', 'voter', 'version', 'comment', 'time'] as const

type CsvField = (typeof csvFields)[number]

/** The column of each field. Undefined if the file does not have it. */
export type Columns = Partial<Record<CsvField, number>>

export const csvLabels: Record<CsvField, string> = {
  value: 'Value',
  prompt: 'Prompt',
  subject: 'Subject',
  voter: 'Voter',
  version: 'Version',
  comment: 'Comment',
  time: 'Time',
}

/** What columns are called, in exports of ours and of others. */
const names: Record<CsvField, string[]> = {
  value: ['value', 'rating', 'vote', 'feedback', 'score', 'thumb', 'thumbs'],
  prompt: ['prompt', 'prompt_id', 'prompt_name'],
  subject: ['subject', 'message_id', 'answer_id', 'response_id', 'id'],
  voter: ['voter', 'user', 'user_id'],
  version: ['version', 'prompt_version', 'commit'],
  comment: ['comment', 'text', 'remark', 'reason'],
  time: ['occurred_at', 'time', 'timestamp', 'created_at', 'date'],
}

const positive = ['positive', 'up', 'thumbs_up', 'thumbsup', 'like', 'good', 'yes', 'true', '1', '+1', '👍']
const negative = ['negative', 'down', 'thumbs_down', 'thumbsdown', 'dislike', 'bad', 'no', 'false', '0', '-1', '👎']

export function guessColumns(header: string[]): Columns {
  const known = header.map((name) =>
    name
      .trim()
      .toLowerCase()
      .replaceAll(/[\s-]+/g, '_'),
  )
  const found = csvFields.map((field) => {
    const name = names[field].find((each) => known.includes(each))
    return [field, name === undefined ? undefined : known.indexOf(name)] as const
  })
  return Object.fromEntries(found.filter(([, index]) => index !== undefined))
}

export interface CsvRow {
  /** As in the file, where the header is line 1. Lines within a cell do not count. */
  number: number
  signal: Omit<BatchSignal, 'idempotency_key'> | null
  /** Why it is no signal. */
  problem: string | null
}

/** The signals of the rows below the header. `prompt` is that of rows that name none. */
export function readRows(rows: string[][], columns: Columns, prompt: string): CsvRow[] {
  return rows.slice(1).map((row, i) => {
    const text = (field: CsvField) => (columns[field] === undefined ? '' : readCell(row[columns[field]] ?? ''))
    const cell = (field: CsvField) => text(field).trim()
    const value = cell('value').toLowerCase()
    const vote = positive.includes(value) ? 'positive' : negative.includes(value) ? 'negative' : null
    const named = cell('prompt') || prompt
    const time = timeOf(cell('time'))
    const problem =
      vote === null
        ? `The value “${cell('value').slice(0, 40)}” is not known.`
        : named === ''
          ? 'It names no prompt.'
          : time === undefined
            ? `The time “${cell('time').slice(0, 40)}” is not readable.`
            : null
    const optional = {
      subject: cell('subject'),
      voter: cell('voter'),
      comment: cell('comment') === '' ? '' : text('comment'),
      occurred_at: time ?? '',
    }
    const given = Object.fromEntries(Object.entries(optional).filter(([, text]) => text !== ''))
    const version = cell('version')
    const signal = {
      prompt: named,
      value: vote as 'positive' | 'negative',
      ...given,
      // A label that is no commit is allowed there.
      ...(version !== '' && { metadata: { 'gen_ai.prompt.version': version } }),
    }
    return { number: i + 2, signal: problem === null ? signal : null, problem }
  })
}

/** ISO 8601, without a zone as UTC, and a date as its start. Null if the cell is empty, undefined if it is not readable. */
function timeOf(text: string): string | null | undefined {
  if (text === '') return null
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return timeOf(`${text}T00:00Z`)
  const isIso = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}/.test(text)
  const at = isIso ? Date.parse(/(?:Z|[+-]\d{2}:?\d{2})$/i.test(text) ? text : `${text}Z`) : Number.NaN
  return Number.isNaN(at) ? undefined : new Date(at).toISOString()
}

/**
 * The signals with keys made of what they say, so that the same file counts once however often it is uploaded. Rows that are equal
 * are counted: the second one has another key than the first.
 */
export async function withKeys(rows: CsvRow[]): Promise<BatchSignal[]> {
  const seen = new Map<string, number>()
  const keyed = rows.flatMap(({ signal }) => {
    if (signal === null) return []
    const text = JSON.stringify(signal)
    const nth = (seen.get(text) ?? 0) + 1
    seen.set(text, nth)
    return [{ signal, text: `${nth} ${text}` }]
  })
  return Promise.all(
    keyed.map(async ({ signal, text }) => {
      const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
      const hex = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
      return { ...signal, idempotency_key: `csv:${hex}` }
    }),
  )
}
