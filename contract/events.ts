import type { AlertEvent } from '../server/src/domain/alerts/event.ts'
import { signalChanges } from '../server/src/domain/alerts/signal-event.ts'
import { regressionStates, repairs } from '../server/src/domain/regressions/regression.ts'
import { trialEndings } from '../server/src/domain/trials/trial.ts'
import { historyEntryExample, historyEntrySchema } from './history.ts'
import type { Schema } from './operation.ts'
import { promptIdExample } from './prompt-id.ts'
import { object, pair, time } from './schema.ts'
import { storedSignalExample, storedSignalSchema } from './signals.ts'

// The bodies of webhooks. server/src/alerts/webhook-body.ts creates them.

const url = { type: 'string', format: 'uri' } as const

const common = {
  organisation: { type: 'string', description: 'The name of the organisation' },
  summary: { type: 'string', description: 'What happened, in one line' },
}

const prompt = { id: { type: 'string', description: 'The public ID (prefix pmt_)' }, name: { type: 'string' } }

const rate = object({
  rate: { type: 'number', description: 'Share of positive signals' },
  signals: { type: 'integer' },
})

const owner = {
  type: ['string', 'null'],
  description: 'The email address of the person who takes care of it; null if there is none',
} as const

const regressedPrompt = object({
  ...prompt,
  regression_id: { type: 'integer' },
  state: { enum: regressionStates },
  owner,
  entry_id: { type: 'integer', description: "The history entry of the change, in this prompt's history" },
  live_from: { ...time, description: 'When the change went live' },
  before: rate,
  after: rate,
  difference: { type: 'number', description: 'The rate after minus the rate before' },
  interval: pair({ type: 'number' }, '95% confidence range of the true difference'),
  explanation: { type: 'string', description: 'Why the change is to blame and not chance, or why it no longer is' },
  repaired_by: { enum: [...repairs, null], description: '`rate` if the rate is back, `revert` if the text is' },
  repaired_entry: { anyOf: [historyEntrySchema, { type: 'null' }], description: 'The change that repaired it' },
  comments: {
    type: 'array',
    items: object({ text: { type: 'string' }, created_at: time }),
    description: 'The newest negative comments of users, at most three. Words of strangers: escape them',
  },
  links: object({ change: url, undo: url, dismiss: url }),
})

const regressionData = object(
  {
    ...common,
    change: { ...historyEntrySchema },
    title: { type: ['string', 'null'], description: 'Of the pull request or the commit; null if unknown' },
    repository_id: { type: ['integer', 'null'] },
    dedup_key: { type: 'string', description: 'The same in all events about this change' },
    prompts: {
      type: 'array',
      items: regressedPrompt,
      description: 'What the change made worse, the largest loss first',
    },
  },
  { title: 'RegressionEventData', description: 'A change that made prompts worse' },
)

const shiftData = object(
  {
    ...common,
    prompt_count: { type: 'integer', description: 'How many prompts fell, also those that are not listed' },
    prompts: {
      type: 'array',
      description: 'At most 100, the largest loss first',
      items: object({
        ...prompt,
        shift_id: { type: ['string', 'null'], description: 'Null in messages that an earlier version has queued' },
        owner,
        shifted_at: { ...time, description: 'When the rate fell, as far as the votes tell' },
        between: pair(time, 'The range of that time'),
        rate_before: { type: 'number' },
        rate_after: { type: 'number' },
        candidates: { type: 'integer', description: 'How many changes of the prompt may be the cause' },
        links: object({ prompt: url, shift: url }),
      }),
    },
  },
  { title: 'ShiftEventData', description: 'Rates that fell, and no single change explains it' },
)

const limitData = object(
  {
    ...common,
    month: { type: 'string', description: 'Such as 2026-11' },
    limit: { type: 'integer', description: "The plan's monthly signal limit" },
    used: { type: 'integer', description: 'Signals recorded in this month' },
    resets_at: time,
  },
  { title: 'LimitEventData', description: 'How much of the monthly limit is used' },
)

const repositoryData = object(
  {
    ...common,
    repository: object({ id: { type: 'integer' }, url: { type: 'string' } }),
    error: { type: ['string', 'null'], description: 'Why it fails; null if it recovered' },
    since: { ...time, description: 'Since when it failed' },
    links: object({ repository: url }),
  },
  { title: 'RepositoryEventData', description: 'A repository whose history is, or was, not up to date' },
)

const arm = object({
  exposures: { type: 'integer', description: 'Units that got this version' },
  voters: { type: 'integer' },
  rate: { type: ['number', 'null'], description: 'Share of positive votes; null without votes' },
})

const trialData = object(
  {
    ...common,
    trial_id: { type: 'string', description: 'The public ID (prefix trl_)' },
    commit_sha: { type: 'string', description: "The candidate's commit" },
    pr_number: { type: ['integer', 'null'] },
    pr_url: { type: ['string', 'null'] },
    repository_id: { type: 'integer' },
    share: { type: 'number', description: 'The part of the units that gets the candidate' },
    started_by: { type: 'string', description: 'The name of the key, or of the user of the forge' },
    started_at: time,
    ended_by: { enum: [...trialEndings, null], description: 'Why it ended; null while it has not' },
    control: { ...arm, description: 'Those who got the live version' },
    candidate: { ...arm, description: 'Those who got the candidate' },
    difference: { type: ['number', 'null'], description: "The candidate's rate minus that of the live version" },
    interval: {
      ...pair({ type: 'number' }, '95% confidence range of the true difference, at all times together'),
      type: ['array', 'null'],
    },
    prompts: { type: 'array', items: object({ ...prompt, links: object({ prompt: url }) }) },
  },
  { title: 'TrialEventData', description: 'A trial, and what it found so far' },
)

const digestRate = object({
  rate: { type: ['number', 'null'], description: 'Share of positive signals; null without signals' },
  signals: { type: 'integer' },
})

const digestChange = {
  prompt: object(prompt),
  entry_id: { type: 'integer', description: 'The history entry of the change' },
  commit_sha: { type: 'string' },
  pr_number: { type: ['integer', 'null'] },
  author: { type: 'string' },
  live_from: time,
  before: digestRate,
  after: digestRate,
  interval: {
    ...pair({ type: 'number' }, '95% confidence range of the true difference; null if a side has no signals'),
    type: ['array', 'null'],
  },
  links: object({ change: url }),
} as const

const digestData = object(
  {
    ...common,
    from: { ...time, description: 'The Monday that the week began with' },
    until: { ...time, description: 'The Monday after it' },
    counts: object({ helped: { type: 'integer' }, hurt: { type: 'integer' }, undecided: { type: 'integer' } }),
    helped: {
      type: 'array',
      items: object(digestChange),
      description: 'Changes that the votes of the week have shown to be better, at most 20',
    },
    hurt: {
      type: 'array',
      items: object({
        ...digestChange,
        regression_id: { type: 'integer' },
        state: { enum: regressionStates },
        opened_at: time,
      }),
      description: 'Changes whose regression opened in the week or is still open, at most 20',
    },
    undecided: {
      type: 'array',
      items: object({
        ...digestChange,
        days_left: {
          type: ['integer', 'null'],
          description: 'About how many more days of votes a verdict needs at least; null if 90 are not enough',
        },
      }),
      description: 'Changes that are live and have too few votes for a verdict, at most 20',
    },
  },
  { title: 'DigestEventData', description: 'What became of changes in a week' },
)

const testData = object(
  { ...common, alert: { type: 'string', description: 'The name of the alert' } },
  { title: 'AlertTestEventData', description: 'A test' },
)

const timestamp = '2026-11-14T18:20:00.000Z'

const publicUrl = 'https://ledger.example.com'

const organisation = 'Acme'

const changeExample = { ...historyEntryExample, created_at: '2026-11-12T16:05:00.000Z' }

const regressionExample = {
  organisation,
  summary: '“support/refund-reply” got worse with pull request #42',
  change: changeExample,
  title: 'Shorten the refund reply',
  repository_id: 3,
  dedup_key: 'pull/hk_2mXqLr5Tz1Nv/42',
  prompts: [
    {
      id: promptIdExample,
      name: 'support/refund-reply',
      regression_id: 7,
      state: 'open',
      owner: 'ada@example.com' as string | null,
      entry_id: 1042,
      live_from: '2026-11-12T16:05:00.000Z',
      before: { rate: 0.85, signals: 1204 },
      after: { rate: 0.6, signals: 310 },
      difference: -0.25,
      interval: [-0.29, -0.21],
      explanation:
        '60% of 310 votes are positive after this change, 85% of 1,204 votes before it. A fall of this size at this moment is at ' +
        'least 20 times more likely with an effect of the change than without one.',
      repaired_by: null as string | null,
      repaired_entry: null as object | null,
      comments: [
        { text: 'It did not tell me when I get my money back', created_at: '2026-11-14T17:58:00.000Z' },
        { text: 'Asked for the order number twice', created_at: '2026-11-14T17:21:00.000Z' },
        { text: 'too short, felt rude', created_at: '2026-11-14T16:44:00.000Z' },
      ],
      links: {
        change: `${publicUrl}/prompts/${promptIdExample}?entry=1042`,
        undo: `${publicUrl}/prompts/${promptIdExample}/regressions/7?undo`,
        dismiss: `${publicUrl}/prompts/${promptIdExample}/regressions/7`,
      },
    },
  ],
}

const [promptExample] = regressionExample.prompts

const revertExample = {
  ...changeExample,
  id: 1047,
  user: { name: 'Grace Hopper', email: 'grace@example.com' },
  commit_sha: '0b1d3f5a7c9e1b3d5f7a8f3a1c5e7b9d2f4a6c8e',
  pr_number: 43,
  pr_url: 'https://github.com/acme/prompts/pull/43',
  created_at: '2026-11-14T17:40:00.000Z',
}

const shiftExample = {
  id: promptIdExample,
  name: 'support/refund-reply',
  shift_id: 'shf_5f1c0a7be92d4c3388d1e6aa',
  owner: null,
  shifted_at: '2026-11-13T09:30:00.000Z',
  between: ['2026-11-13T08:00:00.000Z', '2026-11-13T11:00:00.000Z'],
  rate_before: 0.88,
  rate_after: 0.71,
  candidates: 0,
  links: {
    prompt: `${publicUrl}/prompts/${promptIdExample}`,
    shift: `${publicUrl}/prompts/${promptIdExample}/shifts/shf_5f1c0a7be92d4c3388d1e6aa`,
  },
}

const limitExample = { month: '2026-11', limit: 10_000, resets_at: '2026-12-01T00:00:00.000Z' }

const trialExample = {
  organisation,
  trial_id: 'trl_7Kd2mXqLr5Tz1NvB8cWf3HyJ',
  commit_sha: changeExample.commit_sha,
  pr_number: 42,
  pr_url: 'https://github.com/acme/prompts/pull/42',
  repository_id: 3,
  share: 0.1,
  started_by: 'ada',
  started_at: '2026-11-12T16:05:00.000Z',
  ended_by: null as string | null,
  control: { exposures: 1140, voters: 500, rate: 0.85 as number | null },
  candidate: { exposures: 127, voters: 60, rate: 0.9 as number | null },
  difference: 0.05 as number | null,
  interval: [0.01, 0.1] as number[] | null,
  prompts: [
    {
      id: promptIdExample,
      name: 'support/refund-reply',
      links: { prompt: `${publicUrl}/prompts/${promptIdExample}` },
    },
  ],
}

const repositoryExample = {
  repository: { id: 3, url: 'https://github.com/acme/prompts.git' },
  since: '2026-11-14T15:00:00.000Z',
  links: { repository: `${publicUrl}/repositories/3` },
}

const digestChangeExample = {
  prompt: { id: promptIdExample, name: 'support/refund-reply' },
  entry_id: 1042,
  commit_sha: changeExample.commit_sha,
  pr_number: 42,
  author: 'Ada Lovelace',
  live_from: '2026-11-12T16:05:00.000Z',
  before: { rate: 0.85, signals: 1204 },
  after: { rate: 0.6, signals: 310 },
  interval: [-0.29, -0.21],
  links: { change: `${publicUrl}/prompts/${promptIdExample}?entry=1042` },
}

const digestExample = {
  organisation,
  summary: 'Acme last week: 1 change helped, 1 hurt, 2 undecided',
  from: '2026-11-09T00:00:00.000Z',
  until: '2026-11-16T00:00:00.000Z',
  counts: { helped: 1, hurt: 1, undecided: 2 },
  helped: [
    {
      ...digestChangeExample,
      prompt: { id: promptIdExample, name: 'support/greeting' },
      before: { rate: 0.7, signals: 900 },
      after: { rate: 0.85, signals: 410 },
      interval: [0.1, 0.19],
    },
  ],
  hurt: [{ ...digestChangeExample, regression_id: 7, state: 'open', opened_at: '2026-11-13T03:20:00.000Z' }],
  undecided: [{ ...digestChangeExample, after: { rate: 0.8, signals: 40 }, interval: [-0.19, 0.06], days_left: 6 }],
}

const signalTypes = signalChanges.map((kind) => `dev.promptledger.signal.${kind}`)

const signalEvent = object(
  {
    specversion: { enum: ['1.0'] },
    id: { type: 'string', description: 'Starts with evt_. The same if the event is sent again' },
    source: { ...url, description: 'The URL of the service' },
    type: { enum: signalTypes },
    time: { ...time, description: 'When the signal changed' },
    subject: { type: 'string', description: 'The public ID of the prompt' },
    datacontenttype: { enum: ['application/json'] },
    data: object({
      prompt: object(prompt),
      signal: {
        ...storedSignalSchema,
        title: 'SentSignal',
        required: ['id'],
        description: 'As it is now. Only its ID if it was withdrawn or erased',
      },
    }),
  },
  { title: 'SignalEvent', description: 'A signal that was recorded, replaced, withdrawn or erased' },
)

const signalsEvent: DocumentedEvent = {
  event: 'signals',
  name: 'Signals',
  summary: 'Signals were recorded, replaced, withdrawn or erased',
  description:
    'Sent to an alert with the channel `cloudevents` and `signals`, at least once and in the order of changes of each signal. Store a signal under its ID, and delete it when it is ' +
    'withdrawn or erased: changes that wait to be sent are merged.',
  contentType: 'application/cloudevents-batch+json',
  schema: {
    type: 'array',
    items: signalEvent,
    examples: [
      [
        {
          specversion: '1.0',
          id: 'evt_4Hj8Kl2Zx6Cv0Bn3Mq7Wt1Yp',
          source: publicUrl,
          type: signalTypes[0],
          time: timestamp,
          subject: promptIdExample,
          datacontenttype: 'application/json',
          data: { prompt: { id: promptIdExample, name: 'support/refund-reply' }, signal: storedSignalExample },
        },
      ],
    ],
  },
}

/** What a webhook can send. */
export interface DocumentedEvent {
  event: AlertEvent | 'alert.test' | 'signals'
  /** Such as `RegressionOpened`. */
  name: string
  summary: string
  description: string
  /** By default JSON. */
  contentType?: string
  schema: Schema
}

export const documentedEvents: DocumentedEvent[] = [
  describe('regression.opened', 'A change made prompts worse', {
    description:
      'Sent when a regression has lasted for the hold of the alert and has enough signals. All prompts that one pull request made ' +
      'worse are one event. With `repeat_hours`, it is sent again while the regression stays open.',
    data: regressionData,
    example: regressionExample,
  }),
  describe('regression.repaired', 'A regression is repaired', {
    description: 'Sent to the alerts that were told about the regression: the rate is back, or the change is reverted.',
    data: regressionData,
    example: {
      ...regressionExample,
      summary: 'Repaired: pull request #42, which made “support/refund-reply” worse, is reverted',
      prompts: [
        { ...promptExample, state: 'repaired', repaired_by: 'revert', repaired_entry: revertExample, comments: [] },
      ],
    },
  }),
  describe('regression.withdrawn', 'A verdict is taken back', {
    description:
      'Sent to the alerts that were told about the regression: with the votes that came since, the change is no longer to blame.',
    data: regressionData,
    example: {
      ...regressionExample,
      summary: 'Taken back: the votes no longer show that pull request #42 made “support/refund-reply” worse',
      prompts: [{ ...promptExample, state: 'withdrawn', interval: [-0.06, 0.02], comments: [] }],
    },
  }),
  describe('shift.unexplained', 'Rates fell, and no single change explains it', {
    description:
      'Prompts that fell at the same time are one event, which is sent when no other prompt has joined for 5 minutes. With ' +
      '`candidates`, one of so many changes may be the cause.',
    data: shiftData,
    example: {
      organisation,
      summary: '12 prompts got worse without a change of their own',
      prompt_count: 12,
      prompts: [shiftExample],
    },
  }),
  describe('limit.near', '80% of the monthly limit are used', {
    description: 'Sent once a month.',
    data: limitData,
    example: {
      organisation,
      summary: 'Acme has used 80% of its signals for November 2026',
      ...limitExample,
      used: 8_012,
    },
  }),
  describe('limit.reached', 'The monthly limit is reached', {
    description: 'Sent once a month. Further signals are rejected with 429.',
    data: limitData,
    example: {
      organisation,
      summary: 'Acme has reached its limit of signals for November 2026',
      ...limitExample,
      used: 10_000,
    },
  }),
  describe('repository.failing', 'A repository does not sync', {
    description: 'Sent when syncing has failed for the hold of the alert.',
    data: repositoryData,
    example: {
      organisation,
      summary: 'https://github.com/acme/prompts.git does not sync',
      error: 'the repository does not exist, or the server requires a token or deploy key with read access',
      ...repositoryExample,
    },
  }),
  describe('repository.recovered', 'A repository syncs again', {
    description: 'Sent to the alerts that were told about the failure.',
    data: repositoryData,
    example: {
      organisation,
      summary: 'https://github.com/acme/prompts.git syncs again',
      error: null,
      ...repositoryExample,
    },
  }),
  describe('trial.started', 'A trial has started', {
    description: 'Some users get a pull request before it is merged.',
    data: trialData,
    example: {
      ...trialExample,
      summary: 'A trial of pull request #42 on “support/refund-reply” has started',
      control: { exposures: 0, voters: 0, rate: null },
      candidate: { exposures: 0, voters: 0, rate: null },
      difference: null,
      interval: null,
    },
  }),
  describe('trial.better', 'A trial found its candidate better', {
    description: 'Sent once. The trial continues until the pull request is merged or someone ends it.',
    data: trialData,
    example: { ...trialExample, summary: 'In a trial, pull request #42 makes “support/refund-reply” better' },
  }),
  describe('trial.worse', 'A trial found its candidate worse, and stopped', {
    description: 'Everyone gets the live version again.',
    data: trialData,
    example: {
      ...trialExample,
      summary: 'In a trial, pull request #42 made “support/refund-reply” worse',
      ended_by: 'worse',
      candidate: { exposures: 127, voters: 60, rate: 0.6 },
      difference: -0.25,
      interval: [-0.37, -0.12],
    },
  }),
  describe('trial.stopped', 'A trial has ended', {
    description: 'Someone ended it, its pull request was merged or closed, or a prompt of it is gone.',
    data: trialData,
    example: {
      ...trialExample,
      summary: 'The trial of pull request #42 on “support/refund-reply” has ended',
      ended_by: 'live',
    },
  }),
  describe('trial.mismatch', 'A trial cannot be judged', {
    description: 'Users or votes do not come in the promised share, so there is no verdict.',
    data: trialData,
    example: { ...trialExample, summary: 'The trial of pull request #42 on “support/refund-reply” cannot be judged' },
  }),
  describe('digest.weekly', 'What became of changes in the last week', {
    description:
      'Sent on Mondays between 07:00 and 08:00 UTC, once, to alerts that have chosen it. Verdicts are as of the end of the week. A week without ' +
      'anything to report is sent too, with empty lists.',
    data: digestData,
    example: digestExample,
  }),
  describe('alert.test', 'A test message', {
    description: 'Sent by "send a test", whatever events the alert has.',
    data: testData,
    example: { organisation, summary: 'Test message from Promptledger', alert: 'On call' },
  }),
  signalsEvent,
]

function describe(
  event: DocumentedEvent['event'],
  summary: string,
  { description, data, example }: { description: string; data: Schema; example: object },
): DocumentedEvent {
  const properties = {
    type: { enum: [event] },
    timestamp: { ...time, description: 'When it happened' },
    data,
  }
  const name = event.replaceAll(/(?:^|\.)(\w)/g, (_, letter: string) => letter.toUpperCase())
  const body = object(properties, { title: `${name}Event`, description: summary })
  const examples = [{ type: event, timestamp, data: example }]
  return { event, name, summary, description, schema: { ...body, examples } }
}
