import type { FromSchema } from 'json-schema-to-ts'
import { alreadyOver, proposalFiles, proposalModes, proposalStates } from '../server/src/domain/proposals/proposal.ts'
import { errorWith, object, time } from './schema.ts'

export const newProposalSchema = {
  title: 'NewProposal',
  description: 'How to take a change back',
  type: ['object', 'null'],
  properties: {
    mode: {
      enum: proposalModes,
      default: 'revert',
      description:
        '`revert` keeps later changes of the same files. `restore` brings back the text of the last good version, for when later changes touch ' +
        'the same lines; they are lost',
    },
    files: {
      enum: proposalFiles,
      default: 'prompt',
      description: '`prompt` takes back only the file of the prompt, `change` all files of the change',
    },
  },
  examples: [{ mode: 'revert' }],
} as const

export const proposalSchema = object(
  {
    id: { type: 'integer' },
    state: {
      enum: proposalStates,
      description: '`pending` if it was interrupted before the pull request was open. Propose again to resume it',
    },
    mode: { enum: proposalModes },
    files: { enum: proposalFiles },
    branch: { type: 'string', description: 'The branch that was pushed' },
    pr_number: { type: ['integer', 'null'] },
    pr_url: { type: ['string', 'null'] },
    proposed_by: { type: ['string', 'null'], description: 'The name of the key; null if the service proposed it' },
    created_at: time,
  },
  { title: 'Proposal', description: 'A pull request that takes back a change that made a prompt worse' },
)

export const proposalExample = {
  id: 3,
  state: 'open',
  mode: 'revert',
  files: 'prompt',
  branch: 'promptledger/revert-5-4f1c2a',
  pr_number: 44,
  pr_url: 'https://github.com/acme/prompts/pull/44',
  proposed_by: 'Ada',
  created_at: '2026-11-15T09:00:00.000Z',
} as const

export const proposalProblemSchema = {
  ...errorWith('ProposalProblem', 'conflict', {
    problem: {
      type: 'string',
      description:
        '`over`: the regression is not open. `no_repository`: the change does not come from a connected repository. `no_token`: the repository ' +
        'has no token. `trial`: a trial serves the change; end it instead. `overlap`: later changes touch the same lines; use `restore`. ' +
        '`undone`: the change is taken back already. `too_large`: too many files. `denied`: the token may not push or open pull requests. ' +
        '`busy`: another request is proposing it. `failed`: try again',
    },
    commands: {
      type: 'array',
      items: { type: 'string' },
      description: 'To take the change back by hand, in a checkout of the repository',
    },
    trial_id: { type: 'string', description: 'The trial that serves the change' },
  }),
  examples: [
    {
      error: {
        code: 'conflict',
        message: alreadyOver('repaired').message,
        problem: 'over',
        commands: [],
      },
    },
  ],
}

export type NewProposalBody = FromSchema<typeof newProposalSchema>

export type ProposalBody = FromSchema<typeof proposalSchema>
