import type { ArchiveRow, ArchiveTable, NumberedTable, Offsets } from '../../domain/archive/archive.ts'
import type { Pull } from '../../domain/history/pull.ts'

/** Shifts every ID in the row by its table's offset, including those inside text and JSON. */
export function renumberedRow({ name, columns }: ArchiveTable, row: ArchiveRow, offsets: Offsets): ArchiveRow {
  const renumbered = Object.values(columns).map((kind, i) => {
    const value = row[i] ?? null
    return kind === 'text' || kind === 'integer' || value === null ? value : (value as number) + offsets[kind]
  })
  if (name === 'audit') renumberSubject(Object.keys(columns), renumbered, offsets)
  if (name === 'pulls') renumberPrompts(Object.keys(columns).indexOf('document'), renumbered, offsets)
  return renumbered
}

/** The table of an audit action's subject, by the first part of the action. Prompts use their public ID, which never changes. */
const subjects: Record<string, NumberedTable> = {
  key: 'api_keys',
  repository: 'repositories',
  signal: 'signals',
  signals: 'organisations',
  organisation: 'organisations',
}

function renumberSubject(columns: string[], row: ArchiveRow, offsets: Offsets): void {
  const [action, subject, details] = ['action', 'subject_id', 'details'].map((name) => columns.indexOf(name)) as [
    number,
    number,
    number,
  ]
  const table = subjects[String(row[action]).split('.')[0] as string]
  if (table !== undefined) row[subject] = String(Number(row[subject]) + offsets[table])
  if (row[action] === 'key.rotated') {
    const { new_key_id: id, ...rest } = JSON.parse(row[details] as string)
    row[details] = JSON.stringify({ new_key_id: id + offsets.api_keys, ...rest })
  }
}

/** A pull request's document contains prompt IDs. */
function renumberPrompts(document: number, row: ArchiveRow, offsets: Offsets): void {
  const pull: Pull = JSON.parse(row[document] as string)
  for (const file of pull.heads.flatMap(({ files }) => files)) {
    if (file.promptId !== null) file.promptId += offsets.prompts
  }
  row[document] = JSON.stringify(pull)
}
