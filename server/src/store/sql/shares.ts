import {
  endedSharesForMs,
  maxActiveShares,
  type Share,
  type SharedAccess,
  type ShareStore,
  tooManyShares,
} from '../../domain/access/share.ts'
import { pageOffset } from '../../domain/page.ts'
import { isoTime } from '../../domain/time.ts'
import { auditOf } from './audit-chain.ts'
import { countRows, type Database, firstOrNull, type Row, requireRow, statement } from './database.ts'
import { toAccess } from './keys.ts'
import { lockOrganisation, requireRoom } from './organisations.ts'

/** A link ends with the key that created it, which a rotation lets expire. */
const expiresAt = 'case when k.expires_at < s.expires_at then k.expires_at else s.expires_at end as expires_at'

const selectShares = `select s.id, s.regression_id, s.includes_signals, s.hint, s.created_at, ${expiresAt},
    coalesce(s.revoked_at, k.revoked_at) as revoked_at, p.public_id, p.name, k.name as key_name
  from shares s join prompts p on p.organisation_id = s.organisation_id and p.id = s.prompt_id
    join api_keys k on k.id = s.key_id`

export function sqlShares(database: Database): ShareStore {
  const find = async (organisationId: number, id: number) =>
    database.rows(`${selectShares} where s.organisation_id = ? and s.id = ?`, [organisationId, id])

  return {
    async create({ prompt, regressionId, includesSignals, tokenHash, hint, createdAt, expiresAt }, by) {
      const { organisationId, id: promptId } = prompt
      const details = {
        link: `…${hint}`,
        expires_at: isoTime(expiresAt),
        shows: regressionId === null ? 'prompt' : 'regression',
        ...(includesSignals && { signals: 'included' }),
      }
      const endedBy = createdAt - endedSharesForMs
      const [, , , rows] = await database.write([
        // Concurrent requests must not exceed the limit together.
        lockOrganisation(organisationId),
        statement('delete from shares where organisation_id = ? and expires_at <= ?', [organisationId, endedBy]),
        requireRoom(
          maxActiveShares,
          `shares s join api_keys k on k.id = s.key_id
             where s.organisation_id = ? and s.prompt_id = ? and s.revoked_at is null and k.revoked_at is null
               and s.expires_at > ?`,
          [organisationId, promptId, createdAt],
          tooManyShares,
        ),
        {
          ...statement(
            `insert into shares (organisation_id, prompt_id, regression_id, includes_signals, token_hash, hint, key_id,
               created_at, expires_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?) returning id`,
            [
              organisationId,
              promptId,
              regressionId,
              Number(includesSignals),
              tokenHash,
              hint,
              by?.keyId ?? null,
              createdAt,
              expiresAt,
            ],
          ),
          andThen: () => [auditOf(prompt, 'share.created', createdAt, by, details)],
        },
      ])
      return toShare(requireRow(await find(organisationId, requireRow(rows).id as number)))
    },

    async page(organisationId, promptIds, request) {
      const ofPrompts = promptIds === null ? '' : `and ${database.inJsonArray('s.prompt_id', 'bigint')}`
      const condition = `where s.organisation_id = ? and p.deleted_at is null ${ofPrompts}`
      const parameters = [organisationId, ...(promptIds === null ? [] : [JSON.stringify(promptIds)])]
      const [totalCount, rows] = await Promise.all([
        countRows(database, `(${selectShares} ${condition}) as listed`, parameters),
        database.rows(`${selectShares} ${condition} order by s.id desc limit ? offset ?`, [
          ...parameters,
          request.limit,
          pageOffset(request),
        ]),
      ])
      return { shares: rows.map(toShare), totalCount }
    },

    async revoke(prompt, id, at, by) {
      const { organisationId, id: promptId } = prompt
      await database.write([
        {
          ...statement(
            `update shares set revoked_at = ? where organisation_id = ? and prompt_id = ? and id = ? and revoked_at is null
             returning hint`,
            [at, organisationId, promptId, id],
          ),
          andThen: (rows) => rows.map(({ hint }) => auditOf(prompt, 'share.revoked', at, by, { link: `…${hint}` })),
        },
      ])
      const rows = await database.rows(`${selectShares} where s.organisation_id = ? and s.prompt_id = ? and s.id = ?`, [
        organisationId,
        promptId,
        id,
      ])
      return firstOrNull(rows, toShare)
    },

    async findAccess(tokenHash) {
      // Read each time, so that a revoked link is rejected at once.
      const rows = await database.rows(
        `select -s.id as key_id, 'reader' as role, null as prompts, ${expiresAt},
           coalesce(s.revoked_at, k.revoked_at, p.deleted_at) as revoked_at, s.organisation_id, o.plan,
           s.regression_id, s.includes_signals, p.public_id, p.name
         from shares s join organisations o on o.id = s.organisation_id join api_keys k on k.id = s.key_id
           join prompts p on p.organisation_id = s.organisation_id and p.id = s.prompt_id
         where s.token_hash = ?`,
        [tokenHash],
      )
      return firstOrNull(rows, toSharedAccess)
    },
  }
}

function toShare(row: Row): Share {
  return {
    id: row.id as number,
    prompt: { publicId: row.public_id as string, name: row.name as string },
    regressionId: row.regression_id as number | null,
    includesSignals: row.includes_signals === 1,
    hint: row.hint as string,
    createdAt: row.created_at as number,
    expiresAt: row.expires_at as number,
    revokedAt: row.revoked_at as number | null,
    createdBy: row.key_name as string,
  }
}

function toSharedAccess(row: Row): SharedAccess {
  return {
    ...toAccess(row),
    shared: {
      promptId: row.public_id as string,
      promptName: row.name as string,
      regressionId: row.regression_id as number | null,
      includesSignals: row.includes_signals === 1,
    },
  }
}
