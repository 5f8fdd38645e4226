import { type Actor, operator } from '../../domain/access/audit.ts'
import type { NewDeployment } from '../../domain/deployments/deployment.ts'
import { isProduction } from '../../domain/deployments/production.ts'
import type { Repository } from '../../domain/repositories/repository.ts'
import type { Instant } from '../../domain/time.ts'
import { columnNames, type Database, type Statement, statement } from './database.ts'
import { fromDeployment } from './deployment-rows.ts'

// Of each repository or prompt. Before the oldest deployment that is kept, merges decide what was live.
const maxLiveDeployments = 10_000
const maxOtherDeployments = 1_000
const trimmedAtOnce = 1_000

/** Deployments that decide what is live. */
export const decides = "production = 1 and state in ('success', 'inactive')"

/** The deployments that a forge reported, in the transaction of the sync that read their deliveries. */
export function insertReported(
  database: Database,
  { organisationId, id, productionEnvironments }: Repository,
  deployments: { deployment: NewDeployment; receivedAt: Instant }[],
): Statement[] {
  if (deployments.length === 0) return []
  const owner = { organisationId, column: 'repository_id', id } as const
  return [
    ...deployments.map(({ deployment, receivedAt }) =>
      insertDeployment(owner, productionEnvironments, deployment, receivedAt, operator, 'on conflict do nothing'),
    ),
    ...trimDeployments(database, owner),
  ]
}

/** A repository, or a prompt with deployments of its own. */
export interface DeploymentOwner {
  organisationId: number
  column: 'repository_id' | 'prompt_id'
  id: number
}

/** `patterns` are the production environments of the repository. `end` follows the values. */
export function insertDeployment(
  { organisationId, column, id }: DeploymentOwner,
  patterns: string[] | null,
  deployment: NewDeployment,
  receivedAt: Instant,
  by: Actor,
  end: string,
): Statement {
  const row = {
    organisation_id: organisationId,
    [column]: id,
    key_id: by?.keyId ?? null,
    ...fromDeployment(deployment, isProduction(patterns, deployment), receivedAt),
  }
  const values = Object.values(row)
  return statement(
    `insert into deployments (${columnNames(row)}) values (${values.map(() => '?').join(', ')}) ${end}`,
    values,
  )
}

/** Deletes the oldest deployments beyond the limits. */
export function trimDeployments(database: Database, { organisationId, column, id }: DeploymentOwner): Statement[] {
  // In two statements: in one, PostgreSQL may look for the oldest again for each row.
  const beyond = (condition: string, limit: number): Statement => ({
    ...statement(
      `select id from deployments where organisation_id = ? and ${column} = ? and ${condition}
       order by at desc, id desc limit ${trimmedAtOnce} offset ${limit}`,
      [organisationId, id],
    ),
    andThen: (oldest) =>
      oldest.length === 0
        ? []
        : [
            statement(`delete from deployments where ${database.haveIds()}`, [
              organisationId,
              JSON.stringify(oldest.map((row) => row.id)),
            ]),
          ],
  })
  return [beyond(decides, maxLiveDeployments), beyond(`not (${decides})`, maxOtherDeployments)]
}

/** Applies another setting of the production environments to the deployments that are already known. */
export function applyProductionEnvironments(
  database: Database,
  { organisationId, id }: Pick<Repository, 'organisationId' | 'id'>,
  patterns: string[] | null,
): Statement {
  const ofPrompts = 'prompt_id in (select id from prompts where organisation_id = ? and repository_id = ?)'
  const setProduction = (production: number, ids: number[]) =>
    statement(`update deployments set production = ? where ${database.haveIds()}`, [
      production,
      organisationId,
      JSON.stringify(ids),
    ])
  return {
    ...statement(
      `select id, environment, flagged, production from deployments
       where organisation_id = ? and (repository_id = ? or ${ofPrompts})`,
      [organisationId, id, organisationId, id],
    ),
    andThen(rows) {
      const changed = rows.filter((row) => {
        const flagged = row.flagged === null ? null : row.flagged === 1
        return isProduction(patterns, { environment: row.environment as string, flagged }) !== (row.production === 1)
      })
      const idsWith = (production: number) =>
        changed.filter((row) => row.production === production).map((row) => row.id as number)
      return [setProduction(1, idsWith(0)), setProduction(0, idsWith(1))]
    },
  }
}
