import type { Source, SourceUpdate } from '@promptledger/client'

export const fieldNames = ['value', 'id', 'subject', 'prompt', 'version', 'comment', 'time', 'voter', 'events'] as const

type FieldName = (typeof fieldNames)[number]

/** What the form edits. Lists and numbers are text while they are typed. */
export interface SourceForm {
  name: string
  prompt: string
  secret: string
  fields: Record<FieldName, string>
  positive: string
  negative: string
  midpoint: string
  baseUrl: string
  score: string
}

const noFields = Object.fromEntries(fieldNames.map((name) => [name, ''])) as Record<FieldName, string>

export const newForm: SourceForm = {
  name: '',
  prompt: '',
  secret: '',
  fields: noFields,
  positive: '',
  negative: '',
  midpoint: '',
  baseUrl: '',
  score: '',
}

export function formOf(source: Source): SourceForm {
  return {
    name: source.name,
    prompt: source.prompt ?? '',
    secret: '',
    fields: { ...noFields, ...source.fields },
    positive: source.positive_values.join(', '),
    negative: source.negative_values.join(', '),
    midpoint: source.midpoint === null ? '' : String(source.midpoint),
    baseUrl: source.base_url ?? '',
    score: source.score ?? '',
  }
}

/** The form as the API expects it. Without a secret, the current one stays. */
export function settingsOf(form: SourceForm): SourceUpdate & { name: string } {
  const fields = Object.entries(form.fields).filter(([, path]) => path.trim() !== '')
  const secret = form.secret.trim()
  return {
    name: form.name.trim(),
    prompt: form.prompt.trim() || null,
    fields: Object.fromEntries(fields.map(([name, path]) => [name, path.trim()])),
    positive_values: listOf(form.positive),
    negative_values: listOf(form.negative),
    midpoint: form.midpoint.trim() === '' ? null : Number(form.midpoint),
    base_url: form.baseUrl.trim().replace(/\/+$/, '') || null,
    score: form.score.trim() || null,
    ...(secret !== '' && { secret }),
  }
}

function listOf(text: string): string[] {
  return text
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '')
}

export const labels = {
  name: 'Name',
  adapter: 'Product',
  prompt: 'Prompt',
  secret: 'Signing secret',
  positive_values: 'Positive values',
  negative_values: 'Negative values',
  midpoint: 'Middle of the scale',
  base_url: 'URL of Langfuse',
  score: 'Score',
}

export const fieldLabels: Record<FieldName, { label: string; hint: string }> = {
  value: { label: 'Path of the value', hint: 'The vote.' },
  id: { label: 'Path of the ID', hint: 'Identifies the event: one that is sent twice counts once.' },
  subject: { label: 'Path of the subject', hint: 'What was voted on: a later vote on it replaces the earlier one.' },
  prompt: { label: 'Path of the prompt', hint: 'The ID, name or path of a prompt. Otherwise the prompt above.' },
  version: { label: 'Path of the version', hint: 'A commit, or a label of your own.' },
  comment: { label: 'Path of the comment', hint: 'What the user wrote.' },
  time: { label: 'Path of the time', hint: 'ISO 8601, or seconds or milliseconds since 1970.' },
  voter: { label: 'Path of the voter', hint: 'Who voted, which is stored as a hash.' },
  events: { label: 'Path of the events', hint: 'An array, if a request has several. The other paths start inside.' },
}
