import type { Command } from 'commander'
import type { Repository } from '../domain/repositories/repository.ts'
import { toRepositoryBody } from '../http/repositories/body.ts'
import type { RepositoryBody } from '../http/repositories/schema.ts'
import { integerArgument } from './arguments.ts'
import { organisationOrFail } from './lookup.ts'
import { print, table } from './output.ts'
import { publicUrl } from './repository-service.ts'
import { withStore } from './with-store.ts'

export function repoListCommand(repo: Command): void {
  repo
    .command('list')
    .description('list the repositories of one organisation, or of all, with their state and what to do about problems')
    .option('--org <id>', 'organisation', integerArgument)
    .action(({ org }: { org?: number }, command: Command) =>
      withStore(async (store, config) => {
        const organisations =
          org === undefined ? await store.organisations.list() : [await organisationOrFail(store, org)]
        const repositories: Repository[] = []
        for (const { id } of organisations) repositories.push(...(await store.repositories.list(id)))
        const json = repositories.map((repository) => ({
          organisation_id: repository.organisationId,
          ...toRepositoryBody(repository, publicUrl(config), Date.now()),
        }))
        const rows = json.map(({ id, forge, url, path, state, stale, last_delivery_at, last_sync_at }) => ({
          id,
          forge,
          url,
          path,
          state: stale ? `${state} (stale)` : state,
          last_delivery_at,
          last_sync_at,
        }))
        const listed = table(rows, "No repositories yet. Connect one with 'promptledger repo connect'.")
        print(command, json, [listed, ...json.flatMap(describeProblems)].join('\n'))
      }),
    )
}

type Listed = Pick<RepositoryBody, 'id' | 'state' | 'stale' | 'last_error'>

/** What is wrong with a repository, and what to do. */
function describeProblems({ id, state, stale, last_error: error }: Listed): string[] {
  if (state === 'failing' && error !== null) return [`\nRepository ${id} is failing: ${error.replace(/\.?$/, '.')}`]
  if (stale)
    return [`\nRepository ${id} is stale: no sync has succeeded for two hours. Is 'promptledger serve' running?`]
  return []
}
