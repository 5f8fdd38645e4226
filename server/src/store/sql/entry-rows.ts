import type { DerivedEntry } from '../../domain/history/derivation.ts'
import type { StoredEntry } from '../../domain/history/facts.ts'
import type { Row, TypedColumn, Value } from './database.ts'
import { factColumns, toEntry } from './history-rows.ts'

/** The columns of an entry derived from git. */
export const entryColumns: TypedColumn[] = [
  { name: 'prompt_id', type: 'bigint' },
  ...factColumns,
  { name: 'message', type: 'text' },
  { name: 'actor', type: 'text' },
  { name: 'path', type: 'text' },
  { name: 'old_path', type: 'text' },
  { name: 'before_blob', type: 'text' },
  { name: 'after_blob', type: 'text' },
  { name: 'seq', type: 'bigint' },
  { name: 'orphaned_at', type: 'bigint' },
  { name: 'too_large', type: 'bigint' },
]

export function fromEntry(entry: DerivedEntry): Record<string, Value> {
  return {
    prompt_id: entry.promptId,
    dedupe_key: entry.dedupeKey,
    action: entry.action,
    user_name: entry.user.name,
    user_email: entry.user.email,
    commit_sha: entry.commitSha,
    pr_number: entry.prNumber,
    pr_url: entry.prUrl,
    branch_name: entry.branchName,
    created_at: entry.createdAt,
    message: entry.message,
    actor: entry.actor,
    path: entry.path,
    old_path: entry.oldPath,
    before_blob: entry.beforeBlob,
    after_blob: entry.afterBlob,
    seq: entry.seq,
    orphaned_at: entry.orphanedAt,
    too_large: Number(entry.tooLarge),
  }
}

export function toStoredEntry(row: Row): StoredEntry {
  return {
    ...toEntry(row),
    promptId: row.prompt_id as number,
    dedupeKey: row.dedupe_key as string,
    message: row.message as string,
    actor: row.actor as string | null,
    path: row.path as string,
    oldPath: row.old_path as string | null,
    beforeBlob: row.before_blob as string | null,
    afterBlob: row.after_blob as string | null,
    seq: row.seq as number | null,
    orphanedAt: row.orphaned_at as number | null,
    tooLarge: row.too_large === 1,
  }
}
