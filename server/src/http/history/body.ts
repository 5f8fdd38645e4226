import type { HistoryEntryBody, NewHistoryEntryBody } from '../../../../contract/history.ts'
import { type HistoryEntry, type NewHistoryEntry, newHistoryEntry } from '../../domain/history/entry.ts'
import { isoTime, parseTime } from '../../domain/time.ts'

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

/** Parses and validates an entry from a request or an import file. */
export function parseHistoryEntry(body: NewHistoryEntryBody): NewHistoryEntry {
  return newHistoryEntry({
    action: body.action,
    user: { name: body.user.name, email: body.user.email },
    commitSha: body.commit_sha,
    prNumber: body.pr_number,
    prUrl: body.pr_url,
    branchName: body.branch_name,
    createdAt: parseTime('created_at', body.created_at),
  })
}
