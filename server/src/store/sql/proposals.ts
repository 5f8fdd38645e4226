import type { Actor } from '../../domain/access/audit.ts'
import type {
  ClaimedProposal,
  Proposal,
  ProposalFiles,
  ProposalMode,
  ProposalState,
  ProposalStore,
} from '../../domain/proposals/proposal.ts'
import { maxFuture } from '../../domain/repositories/lease.ts'
import { auditEntry } from './audit-chain.ts'
import { type Database, firstOrNull, isDueSql, type Row, requireRow, statement, writeRows } from './database.ts'

const columns = `id, organisation_id, prompt_id, regression_id, repository_id, mode, files, branch, state, pr_number, pr_url, proposed_by,
  created_at`

export function sqlProposals(database: Database): ProposalStore {
  return {
    async ofRegression({ organisationId, id: promptId }, regressionId) {
      const sql = `select ${columns} from proposals where organisation_id = ? and prompt_id = ? and regression_id = ? order by id desc limit 1`
      return firstOrNull(await database.rows(sql, [organisationId, promptId, regressionId]), toProposal)
    },

    async claim(proposal, by, until) {
      const { organisationId, promptId, regressionId, repositoryId, mode, files, branch, proposedBy, createdAt } =
        proposal
      const rows = await writeRows(
        database,
        `insert into proposals (organisation_id, prompt_id, regression_id, repository_id, mode, files, branch, state, active, key_id,
           proposed_by, created_at, claimed_until) values (?, ?, ?, ?, ?, ?, ?, 'pending', 1, ?, ?, ?, ?)
         on conflict (organisation_id, regression_id, active) do update set claimed_until = excluded.claimed_until
           where ${isDueSql('proposals.claimed_until')} returning ${columns}`,
        [
          ...[organisationId, promptId, regressionId, repositoryId, mode, files, branch, by?.keyId ?? null],
          ...[proposedBy, createdAt, until, createdAt, createdAt + maxFuture.lease],
        ],
      )
      const claimed = firstOrNull(rows, toProposal)
      return claimed && { ...claimed, claimedUntil: until }
    },

    async opened(proposal, { number, url }, at, by) {
      const { organisationId, regressionId, mode, files } = proposal
      const [rows = []] = await database.write([
        {
          ...statement(
            `update proposals set state = 'open', pr_number = ?, pr_url = ?, claimed_until = 0
             where organisation_id = ? and id = ? returning ${columns}`,
            [number, url, organisationId, proposal.id],
          ),
          andThen: () =>
            by === undefined
              ? []
              : [proposed(proposal, by, at, { regression_id: regressionId, pull: number, mode, files })],
        },
      ])
      return toProposal(requireRow(rows))
    },

    async release({ organisationId, id, claimedUntil }) {
      await writeRows(
        database,
        'update proposals set claimed_until = 0 where organisation_id = ? and id = ? and claimed_until = ?',
        [organisationId, id, claimedUntil],
      )
    },

    async end({ organisationId, id }, state) {
      await writeRows(
        database,
        'update proposals set state = ?, active = null, claimed_until = 0 where organisation_id = ? and id = ? and active = 1',
        [state, organisationId, id],
      )
    },

    async pullsOf({ organisationId, id: promptId }, entryId) {
      const rows = await database.rows(
        `select o.repository_id, o.pr_number from proposals o
         join regressions r on r.organisation_id = o.organisation_id and r.id = o.regression_id
         where r.organisation_id = ? and r.prompt_id = ? and r.entry_id = ? and o.pr_number is not null`,
        [organisationId, promptId, entryId],
      )
      return rows.map((row) => ({ repositoryId: row.repository_id as number, prNumber: row.pr_number as number }))
    },
  }
}

function proposed(
  { organisationId, id, branch }: ClaimedProposal,
  by: Actor,
  at: number,
  details: Record<string, string | number>,
) {
  const subject = { id, name: branch }
  return auditEntry({ organisationId, by, at, action: 'proposal.opened', subject, details })
}

function toProposal(row: Row): Proposal {
  return {
    id: row.id as number,
    organisationId: row.organisation_id as number,
    promptId: row.prompt_id as number,
    regressionId: row.regression_id as number,
    repositoryId: row.repository_id as number,
    mode: row.mode as ProposalMode,
    files: row.files as ProposalFiles,
    branch: row.branch as string,
    state: row.state as ProposalState,
    prNumber: row.pr_number as number | null,
    prUrl: row.pr_url as string | null,
    proposedBy: row.proposed_by as string | null,
    createdAt: row.created_at as number,
  }
}
