import type { ArchiveRow, ArchiveTable, NumberedTable, Offsets } from '../../domain/archive/archive.ts'
import type { Pull } from '../../domain/history/pull.ts'

/** The row with every number in it moved, wherever it stands. */
export function movedRow({ name, columns }: ArchiveTable, row: ArchiveRow, offsets: Offsets): ArchiveRow {
  const moved = Object.values(columns).map((kind, i) => {
    const value = row[i] ?? null
    return kind === 'text' || kind === 'integer' || value === null ? value : (value as number) + offsets[kind]
  })
  if (name === 'audit') moveSubject(Object.keys(columns), moved, offsets)
  if (name === 'pulls') movePrompts(Object.keys(columns).indexOf('document'), moved, offsets)
  return moved
}

/** What the first part of an action is done to. Prompts are named by their public ID, which stays. */
const subjects: Record<string, NumberedTable> = {
  key: 'api_keys',
  repository: 'repositories',
  signal: 'signals',
  signals: 'organisations',
  organisation: 'organisations',
}

function moveSubject(columns: string[], row: ArchiveRow, offsets: Offsets): void {
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

/** What is known of a pull request names prompts too. */
function movePrompts(document: number, row: ArchiveRow, offsets: Offsets): void {
  const pull: Pull = JSON.parse(row[document] as string)
  for (const file of pull.heads.flatMap(({ files }) => files)) {
    if (file.promptId !== null) file.promptId += offsets.prompts
  }
  row[document] = JSON.stringify(pull)
}
