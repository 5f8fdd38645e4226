import type { Edit } from '../../domain/history/edit.ts'
import type { FactStore } from '../../domain/history/facts.ts'
import type { Repository } from '../../domain/repositories/repository.ts'
import { typesOf } from './archive-tables.ts'
import { columnNames, type Database, type Row, requireRow, type Statement, type Value } from './database.ts'

const columns = columnNames(typesOf('edits'))

type EditFacts = Pick<FactStore, 'edits' | 'landedEdits' | 'lastSeq' | 'nextHeld'>

export function sqlEdits(database: Database): EditFacts {
  const textElements = database.jsonElements('text')
  const integerElements = database.jsonElements('bigint')

  const editsWhere = async (repository: Repository, condition: string, value: Value) => {
    const sql = `select ${columns} from edits
      where organisation_id = ? and repository_id = ? and ${condition}`
    return (await database.rows(sql, [repository.organisationId, repository.id, value])).map(toEdit)
  }

  return {
    async edits(repository, { commits = [], pulls = [], heldUntil }) {
      const results = await Promise.all([
        commits.length === 0 ? [] : editsWhere(repository, `commit_sha in ${textElements}`, JSON.stringify(commits)),
        pulls.length === 0 ? [] : editsWhere(repository, `pull in ${integerElements}`, JSON.stringify(pulls)),
        pulls.length === 0 ? [] : editsWhere(repository, `mark in ${integerElements}`, JSON.stringify(pulls)),
        heldUntil === undefined ? [] : editsWhere(repository, 'held_until <= ?', heldUntil),
      ])
      return uniqueEdits(results.flat())
    },

    async landedEdits({ organisationId, id }) {
      const rows = await database.rows(
        `select seq, commit_sha, prompt_id, path, old_path, new_blob from edits
         where organisation_id = ? and repository_id = ? and orphaned_at is null order by seq`,
        [organisationId, id],
      )
      return rows.map((row) => ({
        seq: row.seq as number,
        commitSha: row.commit_sha as string,
        promptId: row.prompt_id as number,
        path: row.path as string,
        oldPath: row.old_path as string | null,
        newBlob: row.new_blob as string | null,
      }))
    },

    async lastSeq({ organisationId, id }) {
      const sql = 'select max(seq) as seq from edits where organisation_id = ? and repository_id = ?'
      return (requireRow(await database.rows(sql, [organisationId, id])).seq as number | null) ?? 0
    },

    async nextHeld({ organisationId, id }) {
      const sql = `select min(held_until) as at from edits
        where organisation_id = ? and repository_id = ? and held_until is not null`
      return requireRow(await database.rows(sql, [organisationId, id])).at as number | null
    },
  }
}

export function upsertEdits(database: Database, { organisationId, id }: Repository, edits: Edit[]): Statement[] {
  return database.insertRows({
    table: 'edits',
    rows: edits.map((edit) => ({ organisation_id: organisationId, repository_id: id, ...fromEdit(edit) })),
    onConflict: `on conflict (organisation_id, repository_id, commit_sha, prompt_id) do update set
      seq = excluded.seq, actor = excluded.actor, push_size = excluded.push_size, mark = excluded.mark, pull = excluded.pull,
      held_until = excluded.held_until, orphaned_at = excluded.orphaned_at`,
  })
}

function uniqueEdits(edits: Edit[]): Edit[] {
  const unique = new Map(edits.map((edit) => [`${edit.commitSha} ${edit.promptId}`, edit]))
  return [...unique.values()].sort((a, b) => a.seq - b.seq)
}

function fromEdit(edit: Edit): Row {
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

function toEdit(row: Row): Edit {
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
