import type { LiveTextStore, LiveVersionOfPrompt, ReadVersion } from '../../domain/delivery/live-text.ts'
import type { DeliverySettings } from '../../domain/delivery/settings.ts'
import { type Database, type Row, requireRow, type Statement, statement, writeRows } from './database.ts'
import { blobsOf, deliveredBytes, insertTexts, removeUnusedTexts, requireTextRoom } from './delivered-texts.ts'
import { changeOrganisation, lockOrganisation } from './organisations.ts'

const versionColumns = 'l.prompt_id, l.entry_id, l.commit_sha, l.blob'
const joinTexts = 'join delivered_texts t on t.organisation_id = l.organisation_id and t.blob = l.blob'

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
      const sql = `select ${versionColumns}, t.size from live_texts l left ${joinTexts} where l.organisation_id = ?`
      const rows = await database.rows(sql, [organisationId])
      return rows.map((row) => ({ ...toVersion(row), size: row.size as number | null }))
    },

    async texts(organisationId, promptIds) {
      const rows = await database.rows(
        `select ${versionColumns}, t.text from live_texts l left ${joinTexts}
         where l.organisation_id = ? and ${database.inJsonArray('l.prompt_id', 'bigint')}`,
        [organisationId, JSON.stringify(promptIds)],
      )
      return rows.map((row) => ({ ...toVersion(row), text: row.text as string | null }))
    },

    async replace(organisationId, read, maxBytes) {
      const { fitting, used } = await findFitting(database, organisationId, read, maxBytes)
      // A transaction would have everything compared again.
      if (fitting.length === 0) return read.length
      const texts = new Map(fitting.flatMap(({ blob, text }) => (text === null ? [] : [[blob, text] as const])))
      const replaced: string[] = []
      const full = new Error('full')
      try {
        await database.writeAndInvalidate([
          // Concurrent changes must not exceed the limit together.
          lockOrganisation(organisationId),
          {
            ...deleteVersions(
              database,
              organisationId,
              fitting.map(({ promptId }) => promptId),
            ),
            andThen: (rows) => {
              replaced.push(...blobsOf(rows))
              return []
            },
          },
          ...insertTexts(database, organisationId, texts),
          ...database.insertRows({
            table: 'live_texts',
            rows: fitting.map(({ promptId, entryId, commitSha, blob }) => ({
              organisation_id: organisationId,
              prompt_id: promptId,
              entry_id: entryId,
              commit_sha: commitSha,
              blob,
            })),
            onConflict: '',
          }),
          { ...statement('select 1 as done'), andThen: () => removeUnusedTexts(database, organisationId, replaced) },
          requireTextRoom(organisationId, Math.max(maxBytes, used), () => full),
        ])
      } catch (error) {
        if (error !== full) throw error
        // Another process stored texts meanwhile.
        return read.length
      }
      return read.length - fitting.length
    },

    async remove(organisationId, promptIds) {
      await database.writeAndInvalidate([
        lockOrganisation(organisationId),
        {
          ...deleteVersions(database, organisationId, promptIds),
          andThen: (rows) => removeUnusedTexts(database, organisationId, blobsOf(rows)),
        },
      ])
    },

    async failing(organisationId) {
      const sql = 'select id from repositories where organisation_id = ? and delivery_error is not null'
      return (await database.rows(sql, [organisationId])).map(({ id }) => id as number)
    },

    async recordError(organisationId, repositoryId, error) {
      await writeRows(database, 'update repositories set delivery_error = ? where organisation_id = ? and id = ?', [
        error,
        organisationId,
        repositoryId,
      ])
    },
  }
}

/** Those that the organisation has room for, in order, and the bytes that it uses now. A text that is replaced makes room. */
async function findFitting(
  database: Database,
  organisationId: number,
  read: ReadVersion[],
  maxBytes: number,
): Promise<{ fitting: ReadVersion[]; used: number }> {
  const [bytes, stored, replaceable] = await Promise.all([
    database.rows(`select ${deliveredBytes} as used`, [organisationId]),
    database.rows(
      `select blob from delivered_texts where organisation_id = ? and ${database.inJsonArray('blob', 'text')}`,
      [organisationId, JSON.stringify([...new Set(read.map(({ blob }) => blob))])],
    ),
    // The texts that only one prompt has.
    database.rows(
      `select l.prompt_id, t.size from live_texts l ${joinTexts}
       where l.organisation_id = ? and ${database.inJsonArray('l.prompt_id', 'bigint')}
         and not exists (select 1 from live_texts o
           where o.organisation_id = l.organisation_id and o.blob = l.blob and o.prompt_id <> l.prompt_id)
         and not exists (select 1 from trial_prompts p where p.organisation_id = l.organisation_id and p.blob = l.blob and p.active = 1)`,
      [organisationId, JSON.stringify(read.map(({ promptId }) => promptId))],
    ),
  ])
  const used = requireRow(bytes).used as number
  const known = new Set(blobsOf(stored))
  const freedBy = new Map(replaceable.map((row) => [row.prompt_id, row.size as number]))
  let total = used
  const fitting = read.filter(({ promptId, blob, text }) => {
    const added = text === null || known.has(blob) ? 0 : Buffer.byteLength(text)
    const change = added - (freedBy.get(promptId) ?? 0)
    if (change > 0 && total + change > maxBytes) return false
    total += change
    known.add(blob)
    return true
  })
  return { fitting, used }
}

function deleteVersions(database: Database, organisationId: number, promptIds: number[]): Statement {
  return statement(
    `delete from live_texts where organisation_id = ? and ${database.inJsonArray('prompt_id', 'bigint')} returning blob`,
    [organisationId, JSON.stringify(promptIds)],
  )
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
