import type { FromSchema } from 'json-schema-to-ts'
import { exposureRoles, readerRoles } from '../server/src/domain/access/api-key.ts'
import { TrialRunsError, trialEnded, trialEndings, trialStates } from '../server/src/domain/trials/trial.ts'
import { entryBySchema } from './impact.ts'
import { defineOperations } from './operation.ts'
import { promptIdExample } from './prompt-id.ts'
import { promptNameSchema } from './regressions.ts'
import {
  conflictSchema,
  errorWith,
  invalidSchema,
  list,
  object,
  one,
  pageQuerySchema,
  pair,
  textOrNull,
  time,
  timeOrNull,
} from './schema.ts'

const trialIdExample = 'trl_7Kd2mXqLr5Tz1NvB8cWf3HyJ'

const share = { type: 'number', description: 'The part of the units that gets the candidate, from 0 to 1' } as const

const ramp = {
  type: 'object',
  required: ['shares', 'votes'],
  properties: {
    shares: { type: 'array', items: { type: 'number' }, minItems: 1, maxItems: 10, description: 'Rising shares' },
    votes: {
      type: 'integer',
      minimum: 1,
      maximum: 1_000_000,
      description: 'The next share is served after so many votes at this one, unless the candidate is worse',
    },
  },
  description: 'Shares to serve in turn, instead of `share`',
} as const

const newTrialSchema = {
  title: 'NewTrial',
  description: 'A trial to start: a pull request or a commit, and how many users get it',
  type: 'object',
  properties: {
    pull: { type: 'integer', minimum: 1, description: 'The number of a pull request. Its head is tried' },
    commit: {
      type: 'string',
      description:
        'The full hash of a commit. With `pull`, the head that you reviewed: if the pull request has another one by now, or comes from ' +
        'a fork and this is missing, the request is rejected. Alone, the head of a branch, or a commit of the default branch',
    },
    repository_id: {
      type: 'integer',
      description: 'Needed if several connected repositories have such a pull request',
    },
    prompts: {
      type: 'array',
      items: { type: 'string' },
      minItems: 1,
      maxItems: 100,
      description: 'The prompts to try: IDs, names or paths. By default all that the commits change',
    },
    share,
    ramp,
  },
  examples: [{ pull: 41, share: 0.1 }],
} as const

const trialUpdateSchema = {
  title: 'TrialUpdate',
  description: 'What to change about a trial',
  type: 'object',
  properties: {
    share,
    state: { enum: trialStates, description: '`paused` serves no candidate. `ended` ends the trial for good' },
  },
  examples: [{ share: 0.2 }],
} as const

const arm = object(
  {
    exposures: {
      type: 'integer',
      description:
        'Units that got this version. A unit counts once for each process that served it. Without those of the key in `disagreeing_keys` ' +
        'if it is the only one and there is no mismatch',
    },
    voters: { type: 'integer', description: 'Voters. Only the first vote of each counts' },
    positive: { type: 'integer', description: 'How many of these votes are positive' },
    rate: { type: ['number', 'null'], description: 'Share of positive votes; null without votes' },
    votes_per_exposure: { type: ['number', 'null'], description: 'Null without exposures' },
  },
  { title: 'TrialArm', description: 'What came of one version in a trial' },
)

const { exposures: _exposures, votes_per_exposure: _perExposure, ...votesOfArm } = arm.properties

const segmentArm = object(votesOfArm, { title: 'TrialSegmentArm' })

const difference = {
  type: ['number', 'null'],
  description:
    "The candidate's rate minus that of the live version; null until both have votes, and with a mismatch, when it cannot be known",
} as const

const interval = {
  ...pair({ type: 'number' }, '95% confidence range of the true difference, at all times together'),
  type: ['array', 'null'],
} as const

const segmentsSchema = object(
  {
    key: { type: 'string' },
    complete: { type: 'boolean', description: 'Whether all votes are in it. Otherwise it has the first 40,000' },
    values: {
      type: 'array',
      items: object(
        {
          value: { type: ['string', 'null'], description: 'Null for votes without a value, and for `other`' },
          other: { type: 'boolean', description: 'Whether it pools all values beyond the 20 with the most voters' },
          control: segmentArm,
          candidate: segmentArm,
          difference,
          interval,
          verdict: {
            enum: ['better', 'worse', null],
            description: 'Of all segments that are called `better` or `worse`, at most 5% are wrong on average',
          },
        },
        { title: 'TrialSegment', description: 'A trial among the voters with one value' },
      ),
    },
  },
  { title: 'TrialSegments', description: 'A trial by the values of one key of the metadata. Only with `by`' },
)

const trialSchema = object(
  {
    id: { type: 'string', description: 'The public ID (prefix trl_)' },
    state: { enum: trialStates },
    ended_by: {
      enum: [...trialEndings, null],
      description:
        'Why it ended: `worse` because users rated it lower, `live` because it was merged, `closed` with its pull request, `requested` by someone, ' +
        '`gone` because a prompt was deleted or is no longer delivered; null while it has not ended',
    },
    repository_id: { type: 'integer' },
    pr_number: { type: ['integer', 'null'] },
    pr_url: textOrNull,
    commit_sha: { type: 'string', description: 'The commit whose texts are served. Later pushes do not change it' },
    prompts: { type: 'array', items: promptNameSchema },
    share,
    ramp: { anyOf: [ramp, { type: 'null' }] },
    verdict: {
      enum: ['better', 'worse', null],
      description: 'Found at any time with an error of at most 5%, however often you look; null if undecided',
    },
    mismatch: {
      type: 'boolean',
      description:
        'Units or voters do not come in the promised share, so there is no verdict. A candidate that users rate lower is stopped nevertheless',
    },
    control: arm,
    candidate: arm,
    difference,
    interval,
    days_left: {
      type: ['number', 'null'],
      description: 'About how many days until a verdict, at the traffic of the last day; null if that is not known',
    },
    started_by: { type: 'string', description: 'The name of the key, or of the user of the forge' },
    started_at: time,
    ended_at: timeOrNull,
    judged_at: timeOrNull,
    disagreeing_keys: {
      type: 'array',
      items: object({ id: { type: 'integer' }, name: { type: 'string' } }),
      description:
        'Keys whose exposures do not come in the promised share. Only in a single trial. One alone causes no `mismatch` if the others ' +
        'report at least as many units as there are voters',
    },
    segments: segmentsSchema,
  },
  {
    title: 'Trial',
    optional: ['disagreeing_keys', 'segments'],
    description: 'A commit that some users get before it is merged, and what they think of it',
  },
)

const trialExample = {
  id: trialIdExample,
  state: 'running',
  ended_by: null,
  repository_id: 3,
  pr_number: 41,
  pr_url: 'https://github.com/acme/prompts/pull/41',
  commit_sha: '8f3a1c5e7b9d2f4a6c8e0b1d3f5a7c9e1b3d5f7a',
  prompts: [{ id: promptIdExample, name: 'support/refund-reply' }],
  share: 0.1,
  ramp: null,
  verdict: null,
  mismatch: false,
  control: { exposures: 1140, voters: 512, positive: 435, rate: 0.8496, votes_per_exposure: 0.4491 },
  candidate: { exposures: 127, voters: 61, positive: 55, rate: 0.9016, votes_per_exposure: 0.4803 },
  difference: 0.052,
  interval: [-0.08, 0.19],
  days_left: 12.5,
  started_by: 'ada',
  started_at: '2026-11-12T16:05:00.000Z',
  ended_at: null,
  judged_at: '2026-11-14T16:05:00.000Z',
} as const

const startedExample = {
  ...trialExample,
  control: { exposures: 0, voters: 0, positive: 0, rate: null, votes_per_exposure: null },
  candidate: { exposures: 0, voters: 0, positive: 0, rate: null, votes_per_exposure: null },
  difference: null,
  interval: null,
  days_left: null,
  judged_at: null,
} as const

const candidateSchema = object(
  {
    repository_id: { type: 'integer' },
    pr_number: { type: ['integer', 'null'] },
    pr_url: textOrNull,
    commit_sha: {
      type: 'string',
      description: 'The head of the pull request now. Send it as `commit` when you start the trial',
    },
    from_fork: {
      type: 'boolean',
      description: 'Whether no branch of the repository has it, so that people without write access may have pushed it',
    },
    prompts: { type: 'array', items: promptNameSchema, description: 'Those whose texts it changes' },
  },
  { title: 'TrialCandidate', description: 'What a trial would serve now' },
)

const params = {
  trial_id: { type: 'string', description: "The trial's public ID (prefix trl_)", examples: [trialIdExample] },
} as const

const trialRunsSchema = {
  ...errorWith('TrialRuns', 'conflict', {
    trial_id: {
      type: 'string',
      description:
        'The trial that runs on the prompt. Absent if text delivery is off, or the organisation has too many trials',
    },
  }),
  examples: [
    {
      error: {
        code: 'conflict',
        message: new TrialRunsError(trialIdExample, 'prompts/p.md').message,
        trial_id: trialIdExample,
      },
    },
  ],
}

// Clients count no more units of a trial.
const units = { type: 'integer', minimum: 0, maximum: 100_000 } as const

const newExposuresSchema = {
  title: 'NewExposures',
  description: 'How many units a process has served, since it started',
  type: 'object',
  required: ['source', 'exposures'],
  properties: {
    source: { type: 'string', pattern: '^[\\x21-\\x7e]{1,64}$', description: 'A random ID of the process' },
    exposures: {
      type: 'array',
      maxItems: 100,
      items: {
        type: 'object',
        required: ['trial', 'share', 'control', 'candidate'],
        properties: {
          trial: { type: 'string', maxLength: 100, description: 'The public ID of the trial' },
          share: { ...share, minimum: 0, maximum: 1, description: 'The share that they were chosen by' },
          control: { ...units, description: 'Units that got the live version' },
          candidate: { ...units, description: 'Units that got the candidate' },
        },
      },
    },
  },
  examples: [
    {
      source: 'b3f1c2d4-9a07-4c65-8a1e-52d0c8a6b7f1',
      exposures: [{ trial: trialIdExample, share: 0.1, control: 412, candidate: 47 }],
    },
  ],
} as const

export type NewTrialBody = FromSchema<typeof newTrialSchema>

export type TrialUpdateBody = FromSchema<typeof trialUpdateSchema>

export type TrialBody = FromSchema<typeof trialSchema>

export type NewExposuresBody = FromSchema<typeof newExposuresSchema>

const starters = ['deploy', 'admin'] as const

const shareOutOfRange = 'share must be from 0 to 1, such as 0.1 for 10%'

export const operations = defineOperations('Trials', {
  startTrial: {
    method: 'POST',
    path: '/api/v1/trials',
    client: 'trials.start',
    timeoutMs: 60_000,
    summary: 'Start a trial',
    description:
      'Serves the texts of a pull request or a commit to a share of your users, chosen at random, through text delivery. The commit is ' +
      'fixed now: a later push is not served. A prompt has one trial at a time.',
    roles: starters,
    body: newTrialSchema,
    response: {
      201: one(trialSchema, 'The trial has started', startedExample),
      409: trialRunsSchema,
      422: invalidSchema(shareOutOfRange),
    },
  },

  listTrials: {
    method: 'GET',
    path: '/api/v1/trials',
    client: 'trials.list',
    summary: 'List trials',
    description: 'Newest first.',
    roles: readerRoles,
    query: {
      ...pageQuerySchema,
      state: { enum: trialStates, description: 'Only trials in this state' },
      prompt: { type: 'string', description: 'Only trials of this prompt: its ID, or its name or path' },
    },
    response: {
      200: list(trialSchema, 'One page of trials, newest first', [trialExample]),
      422: invalidSchema(`state must be one of ${trialStates.join(', ')}`),
    },
  },

  getTrialCandidate: {
    method: 'GET',
    path: '/api/v1/trials/candidate',
    client: 'trials.candidate',
    timeoutMs: 60_000,
    summary: 'Show what a trial would serve',
    description:
      'Reads the head of a pull request from git. Review it, then start the trial with its hash as `commit`.',
    roles: starters,
    query: {
      pull: { type: 'integer', minimum: 1, description: 'The number of a pull request', examples: [41] },
      commit: { type: 'string', description: 'The full hash of a commit, instead of a pull request' },
      repository_id: newTrialSchema.properties.repository_id,
    },
    response: {
      200: one(candidateSchema, 'The candidate', {
        repository_id: 3,
        pr_number: 41,
        pr_url: trialExample.pr_url,
        commit_sha: trialExample.commit_sha,
        from_fork: false,
        prompts: trialExample.prompts,
      }),
      422: invalidSchema('pull is required, or commit'),
    },
  },

  getTrial: {
    method: 'GET',
    path: '/api/v1/trials/:trial_id',
    client: 'trials.get',
    summary: 'Get a trial',
    roles: readerRoles,
    params,
    query: { by: entryBySchema },
    response: {
      200: one(trialSchema, 'The trial', { ...trialExample, disagreeing_keys: [] }),
      422: invalidSchema('by must be metadata. followed by a declared key, such as metadata.model'),
    },
  },

  updateTrial: {
    method: 'PATCH',
    path: '/api/v1/trials/:trial_id',
    client: 'trials.update',
    needsBody: true,
    summary: 'Change, pause or end a trial',
    description:
      'Raising the share moves users from the live version to the candidate, and no one back. Applications follow within 15 seconds.',
    roles: starters,
    params,
    body: trialUpdateSchema,
    response: {
      200: one(trialSchema, 'The trial', trialExample),
      409: conflictSchema(trialEnded(trialIdExample).message),
      422: invalidSchema('share or state is required'),
    },
  },

  recordExposures: {
    method: 'POST',
    path: '/api/v1/trials/exposures',
    client: 'trials.recordExposures',
    idempotent: true,
    summary: 'Report how many units each version was served to',
    description:
      'For clients: docs/delivery.md says how to count. The counts are totals since the process started, so a repeated request changes ' +
      'nothing. Trials that are unknown are ignored.',
    roles: exposureRoles,
    light: true,
    body: newExposuresSchema,
    response: { 204: { type: 'null', description: 'The counts are stored' }, 422: invalidSchema('source is required') },
  },
})
