import type { SegmentStore } from '../../domain/impact/reading/segment-keys.ts'
import { auditOf } from './audit-chain.ts'
import { type Database, type Row, statement, type Value } from './database.ts'
import { changeOrganisation } from './organisations.ts'

export function sqlSegments(database: Database): SegmentStore {
  return {
    async ofOrganisation(id) {
      const [row] = await database.rows('select segment_keys from organisations where id = ?', [id])
      return keysOf(row?.segment_keys) ?? []
    },

    async ofPrompt({ organisationId, id }) {
      const [row] = await database.rows(
        `select organisations.segment_keys as common, prompts.segment_keys as own from organisations
         left join prompts on prompts.organisation_id = organisations.id and prompts.id = ? where organisations.id = ?`,
        [id, organisationId],
      )
      const own = keysOf(row?.own)
      if (own !== null) return { keys: own, source: 'prompt' }
      return { keys: keysOf(row?.common) ?? [], source: 'organisation' }
    },

    async setForOrganisation(organisationId, keys, at, by) {
      await changeOrganisation(database, organisationId, 'organisation.segments_changed', at, by, (row) => {
        const from = describe(keysOf(row.segment_keys) ?? [])
        return { set: 'segment_keys = ?', values: [JSON.stringify(keys)], from, to: describe(keys) }
      })
    },

    async setForPrompt(prompt, keys, at, by) {
      const { organisationId, id } = prompt
      const ofPrompt = 'organisation_id = ? and id = ? and deleted_at is null'
      const change = ({ name, segment_keys: stored }: Row) => {
        const details = { from: describe(keysOf(stored)), to: describe(keys) }
        if (details.from === details.to) return []
        const text = keys === null ? null : JSON.stringify(keys)
        return [
          statement(`update prompts set segment_keys = ? where ${ofPrompt}`, [text, organisationId, id]),
          auditOf({ ...prompt, name: name as string }, 'prompt.segments_changed', at, by, details),
        ]
      }
      await database.writeAndInvalidate([
        {
          ...statement(`update prompts set name = name where ${ofPrompt} returning name, segment_keys`, [
            organisationId,
            id,
          ]),
          andThen: (rows) => rows.flatMap(change),
        },
      ])
    },
  }
}

function keysOf(value: Value | undefined): string[] | null {
  return value == null ? null : (JSON.parse(value as string) as string[])
}

/** As the audit log shows them. Keys may contain anything but control characters. */
function describe(keys: string[] | null): string {
  return keys === null ? 'those of the organisation' : JSON.stringify(keys)
}
