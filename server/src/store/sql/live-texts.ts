import type { LiveTextStore, LiveVersionOfPrompt } from '../../domain/delivery/live-text.ts'
import type { DeliverySettings } from '../../domain/delivery/settings.ts'
import { type Database, type Row, requireRow, statement } from './database.ts'
import { changeOrganisation } from './organisations.ts'

const versionColumns = 'prompt_id, entry_id, commit_sha, blob'

const textColumns = {
  organisation_id: 'bigint',
  prompt_id: 'bigint',
  entry_id: 'bigint',
  commit_sha: 'text',
  blob: 'text',
  size: 'bigint',
  text: 'text',
} as const

export function sqlLiveTexts(database: Database): LiveTextStore {
  const settings = async (organisationId: number) =>
    toSettings(
      requireRow(await database.rows('select delivers, undelivered from organisations where id = ?', [organisationId])),
    )

  return {
    settings,

    async updateSettings(organisationId, update, at, by) {
      await changeOrganisation(database, organisationId, 'organisation.delivery_changed', at, by, (row) => {
        const before = toSettings(row)
        const after = { ...before, ...update }
        const values = [Number(after.enabled), JSON.stringify(after.excluded)]
        return { set: 'delivers = ?, undelivered = ?', values, from: describe(before), to: describe(after) }
      })
      return settings(organisationId)
    },

    async delivering() {
      // Also those that have texts left from before delivery was turned off.
      const rows = await database.rows(
        `select id from organisations where delivers = 1 union select organisation_id from live_texts`,
      )
      return rows.map(({ id }) => id as number)
    },

    async versions(organisationId) {
      // Neither engine reads the text for it. The column of this name has the length that the version before this one asks for.
      const sql = `select ${versionColumns}, octet_length(text) as size from live_texts where organisation_id = ?`
      const rows = await database.rows(sql, [organisationId])
      return rows.map((row) => ({ ...toVersion(row), size: row.size as number }))
    },

    async texts(organisationId, promptIds) {
      const rows = await database.rows(
        `select ${versionColumns}, text from live_texts where organisation_id = ? and ${database.inJsonArray('prompt_id', 'bigint')}`,
        [organisationId, JSON.stringify(promptIds)],
      )
      return rows.map((row) => ({ ...toVersion(row), text: row.text as string }))
    },

    async replace(organisationId, stored, removed) {
      await database.writeAndInvalidate([
        statement(
          `delete from live_texts where organisation_id = ? and ${database.inJsonArray('prompt_id', 'bigint')}`,
          [organisationId, JSON.stringify(removed)],
        ),
        ...database.insertRows({
          table: 'live_texts',
          types: textColumns,
          rows: stored.map(({ promptId, entryId, commitSha, blob, text }) => ({
            organisation_id: organisationId,
            prompt_id: promptId,
            entry_id: entryId,
            commit_sha: commitSha,
            blob,
            size: text.length,
            text,
          })),
          onConflict: `on conflict (organisation_id, prompt_id) do update set entry_id = excluded.entry_id,
            commit_sha = excluded.commit_sha, blob = excluded.blob, size = excluded.size, text = excluded.text`,
        }),
      ])
    },
  }
}

function toSettings({ delivers, undelivered }: Row): DeliverySettings {
  return { enabled: delivers === 1, excluded: undelivered === null ? [] : JSON.parse(undelivered as string) }
}

/** As the audit log shows them. */
function describe({ enabled, excluded }: DeliverySettings): string {
  return `${enabled ? 'on' : 'off'}${excluded.length === 0 ? '' : `, without ${JSON.stringify(excluded)}`}`
}

function toVersion(row: Row): LiveVersionOfPrompt {
  return {
    promptId: row.prompt_id as number,
    entryId: row.entry_id as number,
    commitSha: row.commit_sha as string,
    blob: row.blob as string,
  }
}
