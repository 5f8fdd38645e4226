import { operator } from '../../domain/access/audit.ts'
import { DomainError } from '../../domain/errors.ts'
import type { RepositoryStore } from '../../domain/repositories/repository.ts'
import { repositoryIdentity } from '../../domain/repositories/repository-identity.ts'
import { tooManyRepositories } from '../../domain/repositories/repository-service.ts'
import {
  initialSettings,
  settingChanges,
  settingColumns,
  storedSettings,
  updatedSettings,
} from '../../domain/repositories/settings.ts'
import { type Instant, isoTime } from '../../domain/time.ts'
import { auditEntry } from './audit-chain.ts'
import { type Database, firstOrNull, type Row, requireRow, type Statement, statement } from './database.ts'
import { applyProductionEnvironments } from './deployment-changes.ts'
import { decideAgain } from './notice-changes.ts'
import { lockOrganisation, requireRoom } from './organisations.ts'
import { repositoryColumns, toRepository } from './repository-rows.ts'

const settingNames = Object.keys(settingColumns)
const settingAssignments = settingNames.map((name) => `${name} = ?`).join()

/** The audited changes of repositories. */
export function sqlRepositoryChanges(
  database: Database,
): Pick<RepositoryStore, 'connect' | 'update' | 'disconnect' | 'rotateSecret'> {
  return {
    async connect(repository, by, lease, maxRepositories = Number.MAX_SAFE_INTEGER) {
      const { organisationId, forge, url, path, similarity, hookId, sealedToken, sealedSecret, createdAt } = repository
      const { sealedSshKey = null, sshPublicKey = null, sshHostKey = null } = repository
      const settings = updatedSettings(initialSettings, repository)
      const connected = (row: Row) => {
        const subject = { id: row.id as number, name: url }
        const details = { forge, path, ...settingChanges(initialSettings, settings) }
        return auditEntry({ organisationId, by, at: createdAt, action: 'repository.connected', subject, details })
      }
      const values = [
        forge,
        url,
        similarity,
        hookId,
        sealedToken,
        sealedSshKey,
        sshPublicKey,
        sshHostKey,
        by === operator ? 1 : 0,
        sealedSecret,
        createdAt,
        lease?.owner ?? null,
        lease?.until ?? 0,
        ...storedSettings(settings),
      ]
      const insert = statement(
        `insert into repositories
             (forge, url, similarity, hook_id, sealed_token, sealed_ssh_key, ssh_public_key, ssh_host_key,
              connected_by_operator, sealed_secret, due_at, lease_owner, lease_until, ${settingNames.join()},
              organisation_id, path, created_at)
           values (${Array(values.length + 3)
             .fill('?')
             .join()}) returning ${repositoryColumns}`,
        [...values, organisationId, path, createdAt],
      )
      const reconnect = (id: number) =>
        statement(
          `update repositories set forge = ?, url = ?, similarity = ?, hook_id = ?, sealed_token = ?, sealed_ssh_key = ?,
             ssh_public_key = ?, ssh_host_key = ?, connected_by_operator = ?, sealed_secret = ?, due_at = ?,
             lease_owner = ?, lease_until = ?, ${settingAssignments},
             report_error = null, delivery_error = null, sealed_old_secret = null, old_secret_until = null, last_error = null,
             last_sync_at = null, disconnected_at = null, forge_id = null, rejected_deliveries = 0, last_rejected_at = null,
             last_rejection = null
           where organisation_id = ? and id = ? returning ${repositoryColumns}`,
          [...values, organisationId, id],
        )
      let stored: Row[] = []
      await database.writeAndInvalidate([
        ...connectedRoom(organisationId, maxRepositories),
        {
          ...sameRepositories(organisationId, path),
          andThen(rows) {
            const same = rows.filter((row) => isSameUrl(row, url))
            if (same.some((row) => row.disconnected_at === null)) return []
            // Rows from before spellings of one URL counted as one repository: the exact one first.
            const known = same.find((row) => row.url === url) ?? same[0]
            const andThen = (rows: Row[]) => {
              stored = rows
              return rows.map(connected)
            }
            if (known === undefined) return [{ ...insert, andThen }]
            const id = known.id as number
            return [
              applyProductionEnvironments(database, { organisationId, id }, settings.productionEnvironments),
              { ...reconnect(id), andThen },
            ]
          },
        },
      ])
      return firstOrNull(stored, toRepository)
    },

    async update({ id, organisationId, url: oldUrl, path, hookId, ...old }, change, at, by) {
      const { url, sealedToken, sealedSshKey, sshPublicKey, sshHostKey, connectedByOperator } = change
      const production = change.productionEnvironments
      const reports = change.reportsOnPulls || change.opensIssues || change.briefsPulls
      // With another token, or at another URL, reports that were rejected can succeed.
      const canReport = reports && (sealedToken !== old.sealedToken || url !== oldUrl)
      const changedSettings = settingChanges(old, change)
      const isOtherReport = ['reports_on_pulls', 'opens_issues', 'briefs_pulls'].some((name) => name in changedSettings)
      const isOtherProduction = 'production_environments' in changedSettings
      const subject = { id, name: oldUrl }
      const details = {
        ...(url === oldUrl ? {} : { url }),
        ...(sealedToken === old.sealedToken ? {} : { token: sealedToken === null ? 'removed' : 'changed' }),
        ...(sealedSshKey === old.sealedSshKey ? {} : { ssh_key: sealedSshKey === null ? 'removed' : 'changed' }),
        ...(sshHostKey === old.sshHostKey || sshHostKey === null ? {} : { ssh_host_key: sshHostKey }),
        ...changedSettings,
      }
      const updated = auditEntry({ organisationId, by, at, action: 'repository.updated', subject, details })
      let stored: Row[] = []
      await database.writeAndInvalidate([
        // Concurrent changes must not lead to the same repository twice.
        lockOrganisation(organisationId),
        {
          ...sameRepositories(organisationId, path),
          andThen(rows) {
            const other = rows.find((row) => row.id !== id && isSameUrl(row, url))
            if (other !== undefined && url !== oldUrl) throw urlTaken(other.id as number)
            return [
              ...(canReport ? retryReports(organisationId, at) : []),
              ...(isOtherProduction ? [applyProductionEnvironments(database, { organisationId, id }, production)] : []),
              {
                ...statement(
                  // What deliveries reported about the repository belongs to the old URL.
                  `update repositories set url = ?, sealed_token = ?, sealed_ssh_key = ?, ssh_public_key = ?,
                     ssh_host_key = ?, connected_by_operator = ?, ${settingAssignments},
                     report_error = case when ? = 1 then null else report_error end, web_url = case when url = ? then web_url end,
                     forge_id = case when url = ? then forge_id end
                   where organisation_id = ? and id = ? and url = ? and hook_id = ? and disconnected_at is null returning ${repositoryColumns}`,
                  [
                    url,
                    sealedToken,
                    sealedSshKey,
                    sshPublicKey,
                    sshHostKey,
                    connectedByOperator ? 1 : 0,
                    ...storedSettings(change),
                    canReport || isOtherReport ? 1 : 0,
                    url,
                    url,
                    organisationId,
                    id,
                    oldUrl,
                    hookId,
                  ],
                ),
                orThrow: changedMeanwhile,
                andThen(rows) {
                  stored = rows
                  return [updated]
                },
              },
            ]
          },
        },
      ])
      return toRepository(requireRow(stored))
    },

    async disconnect({ id, organisationId, url }, at, by) {
      const subject = { id, name: url }
      const disconnected = auditEntry({ organisationId, by, at, action: 'repository.disconnected', subject })
      await database.writeAndInvalidate([
        {
          ...statement(
            `update repositories set disconnected_at = ?, sealed_token = null, sealed_ssh_key = null
             where organisation_id = ? and id = ? and disconnected_at is null returning id`,
            [at, organisationId, id],
          ),
          andThen: (rows) => rows.map(() => disconnected),
        },
      ])
    },

    async rotateSecret({ id, organisationId, url }, { sealed, oldUntil }, at, by) {
      const subject = { id, name: url }
      const details = { old_secret_until: isoTime(oldUntil) }
      const [rows] = await database.writeAndInvalidate([
        statement(
          `update repositories set sealed_old_secret = sealed_secret, old_secret_until = ?, sealed_secret = ?
           where organisation_id = ? and id = ? returning ${repositoryColumns}`,
          [oldUntil, sealed, organisationId, id],
        ),
        auditEntry({ organisationId, by, at, action: 'repository.secret_rotated', subject, details }),
      ])
      return toRepository(requireRow(rows))
    },
  }
}

/** The repositories with the same path. Whether the URL is the same, too, is not for SQL to tell. */
function sameRepositories(organisationId: number, path: string): Statement {
  return statement(
    'select id, url, disconnected_at from repositories where organisation_id = ? and path = ? order by id desc',
    [organisationId, path],
  )
}

/**
 * Has the notifier decide again about regressions that are open, as if the reports that failed had never been queued. Which repository
 * one is about is part of its message, so those of other repositories are tried again too.
 */
function retryReports(organisationId: number, at: Instant): Statement[] {
  const isOpen = `kind = 'regression' and state = 'open'`
  return [
    // Notices first, as the notifier does: otherwise, the two could wait for each other.
    decideAgain(organisationId, at, isOpen),
    statement(
      `update alert_deliveries set state = 'cancelled' where organisation_id = ? and alert_id is null
         and (state = 'failed' or (state = 'sent' and error is not null))
         and notice_id in (select id from notices where organisation_id = ? and ${isOpen})`,
      [organisationId, organisationId],
    ),
  ]
}

function isSameUrl(row: Row, url: string): boolean {
  return repositoryIdentity(row.url as string) === repositoryIdentity(url)
}

function urlTaken(id: number): DomainError {
  return new DomainError('conflict', `Repository ${id} already has this URL, with the same path.`)
}

function changedMeanwhile(): DomainError {
  return new DomainError('conflict', 'This repository was changed or disconnected meanwhile. Try again.')
}

function connectedRoom(organisationId: number, maxRepositories: number): Statement[] {
  const connected = 'repositories where organisation_id = ? and disconnected_at is null'
  return [
    // Concurrent connects must not exceed the limit together, or connect the same repository twice.
    lockOrganisation(organisationId),
    requireRoom(maxRepositories, connected, [organisationId], () => tooManyRepositories(maxRepositories)),
  ]
}
