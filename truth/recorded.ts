import { DatabaseSync } from 'node:sqlite'

/** What the product recorded for one file of one commit. */
export interface Recorded {
  path: string
  oldPath: string | null
  oldBlob: string | null
  newBlob: string | null
  tooLarge: boolean
  /** The pull request that claims the commit, or that the entry names. */
  number: number | null
  /** The entry of this commit; null if it is part of the entry of the pull request's last commit. */
  entry: RecordedEntry | null
}

export interface RecordedEntry {
  id: number
  promptId: string
  action: string
  user: { name: string; email: string }
  createdAt: number
}

const ofCommit = `select e.path, e.old_path, e.old_blob, e.new_blob, e.too_large, e.pull, e.commit_sha,
    h.id, h.action, h.pr_number, h.user_name, h.user_email, h.created_at, p.public_id
  from edits e
  join prompts p on p.id = e.prompt_id
  left join history_entries h on h.organisation_id = e.organisation_id and h.prompt_id = e.prompt_id
    and h.dedupe_key = 'c:' || e.commit_sha
  where e.organisation_id = 1 and e.repository_id = ? and e.commit_sha = ? and e.orphaned_at is null`

export interface History {
  commits(): Iterable<string>
  of(commit: string): Recorded[]
  close(): void
}

/** Opens the database of a backfill. */
export function openHistory(database: string, repositoryId: number): History {
  const db = new DatabaseSync(database, { readOnly: true })
  const commits = db.prepare('select distinct commit_sha from edits where repository_id = ? and orphaned_at is null')
  const recorded = db.prepare(ofCommit)
  return {
    *commits() {
      for (const row of commits.iterate(repositoryId)) yield row.commit_sha as string
    },
    of: (commit) => recorded.all(repositoryId, commit).map(toRecorded),
    close: () => db.close(),
  }
}

type Row = Record<string, unknown>

function toRecorded(row: Row): Recorded {
  return {
    path: row.path as string,
    oldPath: row.old_path as string | null,
    oldBlob: row.old_blob as string | null,
    newBlob: row.new_blob as string | null,
    tooLarge: row.too_large === 1,
    number: (row.pr_number ?? row.pull) as number | null,
    entry: row.id === null ? null : toEntry(row),
  }
}

function toEntry(row: Row): RecordedEntry {
  return {
    id: row.id as number,
    promptId: row.public_id as string,
    action: row.action as string,
    user: { name: row.user_name as string, email: row.user_email as string },
    createdAt: row.created_at as number,
  }
}
