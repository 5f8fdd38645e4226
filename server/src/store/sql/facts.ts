import type { EntryChanges, FactStore, Findings } from '../../domain/history/facts.ts'
import type { Repository } from '../../domain/repositories/repository.ts'
import { refreshPlaces } from './commit-places.ts'
import { type Database, type Statement, statement, type Value } from './database.ts'
import { finishDeliveries } from './deliveries.ts'
import { insertReported } from './deployment-changes.ts'
import { applyEntryChanges, sqlDerivedEntries } from './derived-entries.ts'
import { sqlEdits, upsertEdits } from './edits.ts'
import { sqlHiddenCharacters } from './hidden-characters.ts'
import { requireLease } from './lease.ts'
import { lockOrganisation } from './organisations.ts'
import { sqlPulls, upsertPull } from './pulls.ts'
import { insertPushes, sqlPushes } from './pushes.ts'
import { movePrompts, sqlRepositoryPrompts } from './repository-prompts.ts'

const noChanges: EntryChanges = { added: [], changed: [], removed: [] }

export function sqlFacts(database: Database): FactStore {
  return {
    ...sqlRepositoryPrompts(database),
    ...sqlEdits(database),
    ...sqlPulls(database),
    ...sqlPushes(database),
    ...sqlDerivedEntries(database),
    ...sqlHiddenCharacters(database),

    async apply(lease, findings) {
      const { repository } = lease
      const statements = [
        ...(findings.paths === undefined || findings.paths.length === 0
          ? []
          : [lockOrganisation(repository.organisationId)]),
        requireLease(lease),
        ...updateRepository(repository, findings),
        ...movePrompts(database, repository, findings),
        ...upsertEdits(database, repository, findings.edits ?? []),
        ...(findings.pulls ?? []).map((pull) => upsertPull(repository, pull)),
        ...insertPushes(repository, findings.pushes ?? []),
        ...applyEntryChanges(database, repository, findings.entries ?? noChanges),
        ...(findings.rewritten ? [refreshPlaces(repository)] : []),
        ...insertReported(database, repository, findings.deployments ?? []),
        ...finishDeliveries(database, repository.organisationId, findings.deliveries ?? []),
      ]
      // Of all cached data, a sync can change only prompts, pages and deployments, and most deliveries change none of them.
      await (affectsCaches(findings) ? database.writeAndInvalidate(statements) : database.write(statements))
    },
  }
}

function affectsCaches({ paths = [], entries = noChanges, deployments = [], rewritten = false }: Findings): boolean {
  if (rewritten || deployments.length > 0) return true
  return paths.length + entries.added.length + entries.changed.length + entries.removed.length > 0
}

function updateRepository({ organisationId, id }: Repository, findings: Findings): Statement[] {
  const { defaultBranch, tip, webUrl, forgeId, incomplete, unreadPullsBelow } = findings
  const updates: [string, Value | undefined][] = [
    ['default_branch', defaultBranch],
    ['tip', tip],
    ['web_url', webUrl],
    ['forge_id', forgeId],
    ['unread_pulls_below', unreadPullsBelow],
    ['incomplete', incomplete === undefined ? undefined : Number(incomplete)],
  ]
  return updates.flatMap(([column, value]) => {
    if (value === undefined) return []
    const sql = `update repositories set ${column} = ? where organisation_id = ? and id = ?`
    return [statement(sql, [value, organisationId, id])]
  })
}
