import { type Database, type Row, type Statement, statement } from './database.ts'
import { lockOrganisation } from './organisations.ts'

/** The bytes of all texts of an organisation. Takes its ID. */
export const deliveredBytes =
  '(select coalesce(cast(sum(size) as bigint), 0) from delivered_texts where organisation_id = ?)'

/** Part of a transaction, after `lockOrganisation`, that refers to these texts, by blob. */
export function insertTexts(
  database: Database,
  organisationId: number,
  texts: ReadonlyMap<string, string>,
): Statement[] {
  return database.insertRows({
    table: 'delivered_texts',
    rows: [...texts].map(([blob, text]) => ({
      organisation_id: organisationId,
      blob,
      size: Buffer.byteLength(text),
      text,
    })),
    onConflict: 'on conflict (organisation_id, blob) do nothing',
  })
}

/** Part of a transaction, after its inserts and `lockOrganisation`: throws if the organisation has more than `maxBytes` of texts. */
export function requireTextRoom(organisationId: number, maxBytes: number, orThrow: () => Error): Statement {
  return { ...statement(`select 1 as room where ? >= ${deliveredBytes}`, [maxBytes, organisationId]), orThrow }
}

/**
 * Part of a transaction that ends references to these blobs: removes the texts that nothing refers to any more. Locks the organisation,
 * or another transaction might refer to a text while it is removed.
 */
export function removeUnusedTexts(database: Database, organisationId: number, blobs: readonly string[]): Statement[] {
  return [
    lockOrganisation(organisationId),
    statement(
      `delete from delivered_texts where organisation_id = ? and ${database.inJsonArray('blob', 'text')}
         and not exists (select 1 from live_texts l where l.organisation_id = delivered_texts.organisation_id and l.blob = delivered_texts.blob)
         and not exists (select 1 from trial_prompts p
           where p.organisation_id = delivered_texts.organisation_id and p.blob = delivered_texts.blob and p.active = 1)`,
      [organisationId, JSON.stringify([...new Set(blobs)])],
    ),
  ]
}

export function blobsOf(rows: Row[]): string[] {
  return rows.map(({ blob }) => blob as string)
}
