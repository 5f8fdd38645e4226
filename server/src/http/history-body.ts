import type { HistoryEntry } from '../domain/history.ts'
import { isoTime } from '../domain/time.ts'
import type { HistoryEntryBody } from './schemas/history.ts'

export function toHistoryEntryBody(entry: HistoryEntry): HistoryEntryBody {
  return {
    id: entry.id,
    action: entry.action,
    user: entry.user,
    commit_sha: entry.commitSha,
    pr_number: entry.prNumber,
    pr_url: entry.prUrl,
    branch_name: entry.branchName,
    created_at: isoTime(entry.createdAt),
  }
}
