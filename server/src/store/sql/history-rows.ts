import type { Action, EntryDetails, HistoryEntry } from '../../domain/history/entry.ts'
import type { Row, Value } from './database.ts'
import { toHiddenStatus } from './hidden-characters.ts'

export const columns = 'id, action, user_name, user_email, commit_sha, pr_number, pr_url, branch_name, created_at'

export const detailColumns = `${columns}, message, actor, path, old_path, before_blob, after_blob, repository_id, key_id,
  hidden_characters, too_large`

export const factNames =
  'dedupe_key, action, user_name, user_email, commit_sha, pr_number, pr_url, branch_name, created_at'

export const wentLive = "action in ('deployed', 'pr_merged')"

export function toEntry(row: Row): HistoryEntry {
  return {
    id: row.id as number,
    action: row.action as Action,
    user: { name: row.user_name as string, email: row.user_email as string },
    commitSha: row.commit_sha as string,
    prNumber: row.pr_number as number | null,
    prUrl: row.pr_url as string | null,
    branchName: row.branch_name as string,
    createdAt: row.created_at as number,
  }
}

/** The columns of an entry in a join, named with a prefix. */
export function prefixedEntryColumns(table: string, prefix: string): string {
  return columns
    .split(', ')
    .map((name) => `${table}.${name} as ${prefix}_${name}`)
    .join(', ')
}

/** Null if the join found no entry. */
export function toPrefixedEntry(row: Row, prefix: string): HistoryEntry | null {
  if (row[`${prefix}_id`] === null) return null
  return toEntry(Object.fromEntries(columns.split(', ').map((name) => [name, row[`${prefix}_${name}`] as Value])))
}

export function toDetails(row: Row): EntryDetails {
  return {
    ...toEntry(row),
    message: row.message as string | null,
    actor: row.actor as string | null,
    path: row.path as string | null,
    oldPath: row.old_path as string | null,
    beforeBlob: row.before_blob as string | null,
    afterBlob: row.after_blob as string | null,
    repositoryId: row.repository_id as number | null,
    keyId: row.key_id as number | null,
    tooLarge: row.too_large === 1,
    hiddenCharacters: toHiddenStatus(row.hidden_characters),
  }
}
