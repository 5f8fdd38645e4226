import type { DeploymentStore, DeploymentTarget, NewDeployment } from '../../domain/deployments/deployment.ts'
import { type LineSegment, liveLine } from '../../domain/deployments/live-line.ts'
import { pageOffset } from '../../domain/page.ts'
import { auditEntry } from './audit-chain.ts'
import { placeOfEdit, sqlCommitPlaces } from './commit-places.ts'
import { countRows, type Database, type Row, requireRow, type Statement, statement, type Value } from './database.ts'
import { type DeploymentOwner, decides, insertDeployment, trimDeployments } from './deployment-changes.ts'
import { deploymentColumns, toDeployment, toLineEvent, toPlace, toReported } from './deployment-rows.ts'
import { lockHistory } from './history-positions.ts'
import { wentLive } from './history-rows.ts'
import { patternsOf } from './repository-rows.ts'

export function sqlDeployments(database: Database): DeploymentStore {
  const lineOf = async (condition: string, parameters: Value[]): Promise<LineSegment[]> => {
    const rows = await database.rows(
      `select d.environment, d.commit_sha, d.state, d.share, d.at, d.forge_deployment_id, c.located, c.seq, c.orphaned_at
       from deployments d left join commit_places c
         on c.organisation_id = d.organisation_id and c.repository_id = ? and c.commit_sha = d.commit_sha
       where ${condition} and d.production = 1 and d.state in ('success', 'inactive') order by d.at, d.id`,
      parameters,
    )
    return liveLine(rows.map(toLineEvent).filter((event) => event !== null))
  }

  return {
    ...sqlCommitPlaces(database),

    async record(target, deployment, receivedAt, by) {
      const owner = ownerOf(target)
      const { organisationId } = owner
      let stored: Row[] = []
      let isNew = false
      const keep = (rows: Row[]): Statement[] => {
        stored = rows
        return []
      }
      const audit = ({ id }: Row): Statement => {
        const { environment, commitSha, state } = deployment
        const of =
          'prompt' in target ? { prompt: target.prompt.publicId } : { repository_id: target.repository.id as number }
        const details = { ...of, commit_sha: commitSha, state }
        const subject = { id: id as number, name: environment }
        return auditEntry({ organisationId, by, at: receivedAt, action: 'deployment.recorded', subject, details })
      }
      const insert = (patterns: string[] | null): Statement => ({
        ...insertDeployment(owner, patterns, deployment, receivedAt, by, 'returning id'),
        andThen: ([row]) => {
          isNew = true
          return [
            ...(target.repository === null ? [] : [placeOfEdit(target.repository, deployment.commitSha, receivedAt)]),
            ...trimDeployments(database, owner),
            { ...findById(target, requireRow([row as Row]).id as number), andThen: keep },
            audit(row as Row),
          ]
        },
      })
      await database.writeAndInvalidate([
        {
          ...lockOwner(target),
          andThen: ([row]) => [
            {
              ...findSame(target, deployment),
              andThen: (rows) => (rows.length > 0 ? keep(rows) : [insert(patternsOf(row?.production_environments))]),
            },
          ],
        },
      ])
      return { deployment: toDeployment(requireRow(stored)), isNew }
    },

    async page(target, request) {
      const offset = pageOffset(request)
      const owners =
        target.repository === null || !('prompt' in target)
          ? [ownerOf(target)]
          : [ownerOf(target), ownerOf({ repository: target.repository })]
      const found = await Promise.all(
        owners.map(async ({ organisationId, column, id }) => {
          const where = `d.organisation_id = ? and d.${column} = ?`
          const listed = deploymentsWhere(target, where, [organisationId, id], offset + request.limit)
          const [count, rows] = await Promise.all([
            countRows(database, `deployments d where ${where}`, [organisationId, id]),
            database.rows(listed.sql, listed.parameters),
          ])
          return { count, deployments: rows.map(toDeployment) }
        }),
      )
      const newest = found.flatMap(({ deployments }) => deployments).sort((a, b) => b.at - a.at || b.id - a.id)
      return {
        deployments: newest.slice(offset, offset + request.limit),
        totalCount: found.reduce((sum, { count }) => sum + count, 0),
      }
    },

    line: (organisationId, repositoryId) =>
      lineOf('d.organisation_id = ? and d.repository_id = ?', [repositoryId, organisationId, repositoryId]),

    async promptLine({ organisationId, id, repositoryId }) {
      const isDeployed = await database.rows(
        `select 1 from deployments where organisation_id = ? and prompt_id = ? and ${decides} limit 1`,
        [organisationId, id],
      )
      if (isDeployed.length === 0) return null
      if (repositoryId !== null) {
        const condition = 'd.organisation_id = ? and (d.prompt_id = ? or d.repository_id = ?)'
        return lineOf(condition, [repositoryId, organisationId, id, repositoryId])
      }
      // Without a repository, the commit is that of a submitted entry. Until the entry is there, the deployment does not count.
      const rows = await database.rows(
        `select environment, commit_sha, state, share, at, forge_deployment_id, 1 as located, null as seq, null as orphaned_at
         from deployments where organisation_id = ? and prompt_id = ? and ${decides} and commit_sha in (
           select commit_sha from history_entries where organisation_id = ? and prompt_id = ? and ${wentLive})
         order by at, id`,
        [organisationId, id, organisationId, id],
      )
      return liveLine(rows.map(toLineEvent).filter((event) => event !== null))
    },

    async environmentEvents({ organisationId, id, repositoryId }, at, limit) {
      const newest = (column: 'prompt_id' | 'repository_id', owner: number) =>
        database.rows(
          `select d.id, d.environment, d.production, d.commit_sha, d.state, d.share, d.at, d.forge_deployment_id, c.located, c.seq,
             c.orphaned_at
           from deployments d left join commit_places c
             on c.organisation_id = d.organisation_id and c.repository_id = ? and c.commit_sha = d.commit_sha
           where d.organisation_id = ? and d.${column} = ? and d.at <= ? and d.state in ('success', 'inactive')
           order by d.at desc, d.id desc limit ?`,
          [repositoryId ?? 0, organisationId, owner, at, limit],
        )
      const found = await Promise.all([
        newest('prompt_id', id),
        ...(repositoryId === null ? [] : [newest('repository_id', repositoryId)]),
      ])
      return inOrder(found.flat())
        .slice(-limit)
        .map((row) => {
          const unlocated = { sha: row.commit_sha as string, seq: null, orphanedAt: null }
          return { ...toReported(row), place: toPlace(row) ?? unlocated, production: row.production === 1 }
        })
    },

    async modelEvents({ organisationId, id, repositoryId }, until) {
      const owners: [column: string, owner: number][] = [['prompt_id', id]]
      if (repositoryId !== null) owners.push(['repository_id', repositoryId])
      const isAnyNamed = await Promise.all(
        owners.map(async ([column, owner]) => {
          const rows = await database.rows(
            `select 1 from deployments where organisation_id = ? and ${column} = ? and model is not null limit 1`,
            [organisationId, owner],
          )
          return rows.length > 0
        }),
      )
      if (!isAnyNamed.includes(true)) return []
      const found = await Promise.all(
        owners.map(([column, owner]) =>
          database.rows(
            `select id, environment, commit_sha, state, share, at, forge_deployment_id, model from deployments
             where organisation_id = ? and ${column} = ? and ${decides} and at < ?
             order by at desc, id desc limit ${maxModelEvents}`,
            [organisationId, owner, until],
          ),
        ),
      )
      return inOrder(found.flat())
        .slice(-maxModelEvents)
        .map((row) => ({
          ...toReported(row),
          commitSha: row.commit_sha as string,
          model: row.model as string | null,
        }))
    },

    async deployedPrompts(organisationId, promptIds) {
      if (promptIds.length === 0) return new Set()
      const rows = await database.rows(
        `select requested from ${database.jsonRecords({ requested: 'bigint' })}
         where exists (select 1 from deployments where organisation_id = ? and prompt_id = requested and ${decides})`,
        [JSON.stringify(promptIds.map((id) => ({ requested: id }))), organisationId],
      )
      return new Set(rows.map((row) => row.requested as number))
    },
  }
}

// Bounds the cost of a verdict. Older models say nothing about recent changes.
const maxModelEvents = 1_000

function inOrder(rows: Row[]): Row[] {
  return rows.sort((a, b) => (a.at as number) - (b.at as number) || (a.id as number) - (b.id as number))
}

function ownerOf(target: DeploymentTarget): DeploymentOwner {
  if ('prompt' in target) {
    return { organisationId: target.prompt.organisationId, column: 'prompt_id', id: target.prompt.id }
  }
  return { organisationId: target.repository.organisationId, column: 'repository_id', id: target.repository.id }
}

/** Concurrent reports of one deployment must not both be recorded. Returns the setting of the repository. */
function lockOwner(target: DeploymentTarget): Statement {
  if (target.repository === null)
    return lockHistory((target as { prompt: { organisationId: number; id: number } }).prompt)
  const { organisationId, id } = target.repository
  return statement(
    `update repositories set due_at = due_at where organisation_id = ? and id = ? returning production_environments`,
    [organisationId, id],
  )
}

function findById(target: DeploymentTarget, id: number): Statement {
  const { organisationId } = ownerOf(target)
  return deploymentsWhere(target, 'd.organisation_id = ? and d.id = ?', [organisationId, id], 1)
}

/** The same deployment as recorded before. Without a time of its own, it is the last one of the environment if that is the same. */
function findSame(target: DeploymentTarget, deployment: NewDeployment): Statement {
  const { organisationId, column, id } = ownerOf(target)
  const { dedupeKey, atReceipt, environment, commitSha, state, share, model } = deployment
  const owner = `d.organisation_id = ? and d.${column} = ?`
  if (!atReceipt) return deploymentsWhere(target, `${owner} and d.dedupe_key = ?`, [organisationId, id, dedupeKey], 1)
  return deploymentsWhere(
    target,
    `${owner} and d.commit_sha = ? and d.state = ? and d.share = ? and coalesce(d.model, '') = ? and d.id = (
       select id from deployments where organisation_id = ? and ${column} = ? and environment = ?
       order by at desc, id desc limit 1)`,
    [organisationId, id, commitSha, state, share, model ?? '', organisationId, id, environment],
    1,
  )
}

/** Newest first. A prompt without a repository has no line: its commits are those of submitted entries. */
function deploymentsWhere(target: DeploymentTarget, condition: string, values: Value[], limit: number): Statement {
  const limits = `where ${condition} order by d.at desc, d.id desc limit ?`
  if (target.repository !== null) {
    return statement(
      `select ${deploymentColumns} from deployments d left join commit_places c
         on c.organisation_id = d.organisation_id and c.repository_id = ? and c.commit_sha = d.commit_sha ${limits}`,
      [target.repository.id, ...values, limit],
    )
  }
  const located = `(select 1 from history_entries h where h.organisation_id = d.organisation_id
    and h.prompt_id = d.prompt_id and h.commit_sha = d.commit_sha limit 1)`
  const columns = deploymentColumns.replace(
    'c.located, c.seq, c.orphaned_at',
    `${located} as located, null as seq, null as orphaned_at`,
  )
  return statement(`select ${columns} from deployments d ${limits}`, [...values, limit])
}
