import type { HistoryStore } from '../../domain/history/history.ts'
import type { Database } from './database.ts'
import { detailColumns, toDetails, wentLive } from './history-rows.ts'

export function sqlBlamedEntries(database: Database): HistoryStore['entriesOfCommits'] {
  return async ({ organisationId, id, repositoryId }, commits) => {
    if (commits.length === 0) return new Map()
    const wanted = JSON.stringify(commits)
    // Each of its own commit. Of those that a pull request brought with others, the entry is that of the pull request.
    const [own, merged] = await Promise.all([
      database.rows(
        `select commit_sha as blamed, ${detailColumns} from history_entries
         where organisation_id = ? and prompt_id = ? and ${wentLive} and commit_sha in ${database.jsonElements('text')}
         order by id`,
        [organisationId, id, wanted],
      ),
      database.rows(
        `select brought.commit_sha as blamed, ${prefixed}
         from edits brought join history_entries h on h.organisation_id = brought.organisation_id
           and h.prompt_id = brought.prompt_id and h.pr_number = brought.pull and h.repository_id = brought.repository_id
         where brought.organisation_id = ? and brought.repository_id = ? and brought.prompt_id = ?
           and h.action = 'pr_merged' and brought.commit_sha in ${database.jsonElements('text')}
         order by h.id`,
        [organisationId, repositoryId, id, wanted],
      ),
    ])
    return new Map([...merged, ...own].map((row) => [row.blamed as string, toDetails(row)]))
  }
}

const prefixed = detailColumns.replaceAll(/\b[a-z_]+\b/g, 'h.$&')
