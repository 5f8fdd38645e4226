import type { Edit } from '../../domain/history/edit.ts'
import type { Row, TypedColumn, Value } from './database.ts'

export const editColumns: TypedColumn[] = [
  { name: 'commit_sha', type: 'text' },
  { name: 'prompt_id', type: 'bigint' },
  { name: 'seq', type: 'bigint' },
  { name: 'path', type: 'text' },
  { name: 'old_path', type: 'text' },
  { name: 'old_blob', type: 'text' },
  { name: 'new_blob', type: 'text' },
  { name: 'author_name', type: 'text' },
  { name: 'author_email', type: 'text' },
  { name: 'side_author_name', type: 'text' },
  { name: 'side_author_email', type: 'text' },
  { name: 'committed_at', type: 'bigint' },
  { name: 'message', type: 'text' },
  { name: 'branch', type: 'text' },
  { name: 'actor', type: 'text' },
  { name: 'push_size', type: 'bigint' },
  { name: 'mark', type: 'bigint' },
  { name: 'pull', type: 'bigint' },
  { name: 'held_until', type: 'bigint' },
  { name: 'orphaned_at', type: 'bigint' },
  { name: 'too_large', type: 'bigint' },
]

export function fromEdit(edit: Edit): Record<string, Value> {
  return {
    commit_sha: edit.commitSha,
    prompt_id: edit.promptId,
    seq: edit.seq,
    path: edit.path,
    old_path: edit.oldPath,
    old_blob: edit.oldBlob,
    new_blob: edit.newBlob,
    author_name: edit.author.name,
    author_email: edit.author.email,
    side_author_name: edit.sideAuthor?.name ?? null,
    side_author_email: edit.sideAuthor?.email ?? null,
    committed_at: edit.committedAt,
    message: edit.message,
    branch: edit.branch,
    actor: edit.actor,
    push_size: edit.pushSize,
    mark: edit.mergeReference,
    pull: edit.pull,
    held_until: edit.heldUntil,
    orphaned_at: edit.orphanedAt,
    too_large: Number(edit.tooLarge),
  }
}

export function toEdit(row: Row): Edit {
  return {
    seq: row.seq as number,
    commitSha: row.commit_sha as string,
    promptId: row.prompt_id as number,
    path: row.path as string,
    oldPath: row.old_path as string | null,
    oldBlob: row.old_blob as string | null,
    newBlob: row.new_blob as string | null,
    author: { name: row.author_name as string, email: row.author_email as string },
    sideAuthor:
      row.side_author_name === null
        ? null
        : { name: row.side_author_name as string, email: row.side_author_email as string },
    committedAt: row.committed_at as number,
    message: row.message as string,
    branch: row.branch as string,
    actor: row.actor as string | null,
    pushSize: row.push_size as number | null,
    mergeReference: row.mark as number | null,
    pull: row.pull as number | null,
    heldUntil: row.held_until as number | null,
    orphanedAt: row.orphaned_at as number | null,
    tooLarge: row.too_large === 1,
  }
}
