import Type, { type Static } from 'typebox'
import { actions, type HistoryEntry } from '../../domain/history.ts'
import { isoTime } from '../../domain/time.ts'
import { PaginationBody } from './pagination.ts'

const facts = {
  action: Type.Enum(actions),
  user: Type.Object({ name: Type.String(), email: Type.String() }, { description: 'Who made the change' }),
  commit_sha: Type.String({ description: 'Commit hash of the change' }),
  pr_number: Type.Union([Type.Integer(), Type.Null()]),
  pr_url: Type.Union([Type.String(), Type.Null()]),
  branch_name: Type.String({ description: 'Name of the branch the change went to' }),
  created_at: Type.String({ description: 'ISO 8601 UTC timestamp' }),
}

export const HistoryEntryBody = Type.Object({ id: Type.Integer(), ...facts })

export const NewHistoryEntryBody = Type.Object(facts)

export const HistoryPageBody = Type.Object({ data: Type.Array(HistoryEntryBody), pagination: PaginationBody })

export type HistoryEntryBody = Static<typeof HistoryEntryBody>
export type NewHistoryEntryBody = Static<typeof NewHistoryEntryBody>

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
