import type { ProposalBody } from '../../../../contract/proposals.ts'
import type { Proposal } from '../../domain/proposals/proposal.ts'
import { isoTime } from '../../domain/time.ts'

export function toProposalBody(proposal: Proposal): ProposalBody {
  return {
    id: proposal.id,
    state: proposal.state,
    mode: proposal.mode,
    files: proposal.files,
    branch: proposal.branch,
    pr_number: proposal.prNumber,
    pr_url: proposal.prUrl,
    proposed_by: proposal.proposedBy,
    created_at: isoTime(proposal.createdAt),
  }
}
