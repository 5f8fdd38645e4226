import type { Command } from 'commander'
import type { RepositoryBody } from '../../../contract/repositories.ts'
import type { Repository } from '../domain/repositories/repository.ts'
import { toRepositoryBody } from '../http/repositories/body.ts'
import { integerArgument } from './arguments.ts'
import { organisationOrFail } from './lookup.ts'
import { formatCount, print, table } from './output.ts'
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
        const rows = json.map(({ id, forge, url, path, state, stale, ...rest }) => ({
          id,
          forge,
          url,
          path,
          state: stale ? `${state} (stale)` : state,
          last_delivery_at: rest.last_delivery_at,
          rejected_deliveries: rest.rejected_deliveries,
          last_sync_at: rest.last_sync_at,
        }))
        const listed = table(rows, "No repositories yet. Connect one with 'promptledger repo connect'.")
        print(command, json, [listed, ...json.flatMap(describeProblems)].join('\n'))
      }),
    )
}

type Listed = Omit<RepositoryBody, 'prompt_count' | 'entry_count'>

/** The problem of a repository, and its fix. */
function describeProblems(repository: Listed): string[] {
  return [
    syncProblem(repository),
    unreadPulls(repository),
    webhookProblem(repository),
    reportProblem(repository),
  ].filter((problem) => problem !== null)
}

function syncProblem({ id, state, stale, last_error: error }: Listed): string | null {
  if (state === 'failing' && error !== null) return `\nRepository ${id} is failing: ${error.replace(/\.?$/, '.')}`
  if (stale) return `\nRepository ${id} is stale: no sync has succeeded for two hours. Is 'promptledger serve' running?`
  return null
}

function unreadPulls({ id, state, unread_pulls_below: below }: Listed): string | null {
  if (below === null || state === 'disconnected') return null
  return `\nRepository ${id}: rebased pull requests below number ${below} are not searched yet. The next syncs continue.`
}

function reportProblem({ id, report_error: error }: Listed): string | null {
  return error === null ? null : `\nRepository ${id} cannot be reported on: ${error}`
}

function webhookProblem(repository: Listed): string | null {
  const { id, state, rejected_deliveries: count, last_rejected_at: at, last_delivery_at: accepted } = repository
  if (at === null || state === 'disconnected' || (accepted !== null && accepted >= at)) return null
  const rejected = formatCount(count, 'delivery was', 'deliveries were')
  return (
    `\nRepository ${id}: ${rejected} rejected, the last one at ${at}: ${repository.last_rejection}. Compare the webhook's secret ` +
    `on the forge, or create a new one with 'promptledger repo rotate-secret ${id}'.`
  )
}
