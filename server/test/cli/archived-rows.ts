import type { archivedRows } from '../../../testing/filled-database.ts'
import { archiveTables } from '../../src/store/sql/archive-tables.ts'

export type Everything = Awaited<ReturnType<typeof archivedRows>>

/** Rows as an import stores them: only the operator of this service can say that a repository is theirs. */
export function asImported(all: Everything): Everything {
  const columns = Object.keys(archiveTables.find(({ name }) => name === 'repositories')?.columns ?? {})
  const place = columns.indexOf('connected_by_operator')
  return { ...all, repositories: (all.repositories ?? []).map((row) => row.with(place, '0')) }
}

/** The rows without the audit entry that an import adds, and the head that it moves. */
export function withoutImportEntry(all: Everything): Everything {
  const { audit = [], audit_heads: _, ...others } = all
  return { ...others, audit: audit.filter((row) => !row.includes('organisation.imported')) } as Everything
}

/** The rows of one organisation. */
export function onlyOf(all: Everything, organisationId: number): Everything {
  const places = new Map(
    archiveTables.map(({ name, columns }) => [
      name,
      Object.keys(columns).indexOf(name === 'organisations' ? 'id' : 'organisation_id'),
    ]),
  )
  const entries = Object.entries(all).map(([name, rows]) => {
    const place = places.get(name)
    return [name, place === undefined ? rows : rows.filter((row) => row[place] === String(organisationId))]
  })
  return Object.fromEntries(entries)
}
