import type {
  DigestChange,
  Message,
  RegressionMessage,
  ToldPrompt,
  TrialMessage,
} from '../server/src/domain/alerts/message.ts'
import type { HistoryEntry } from '../server/src/domain/history/entry.ts'
import type { TrialFindings } from '../server/src/domain/trials/trial.ts'

const at = Date.parse('2026-11-14T18:20:00.000Z')
const organisation = { id: 1, name: 'Acme' }

const change: HistoryEntry = {
  id: 1042,
  action: 'pr_merged',
  user: { name: 'Ada Lovelace', email: 'ada@example.com' },
  commitSha: '8f3a1c5e7b9d2f4a6c8e0b1d3f5a7c9e1b3d5f7a',
  prNumber: 42,
  prUrl: 'https://github.com/acme/prompts/pull/42',
  branchName: 'main',
  createdAt: Date.parse('2026-11-12T16:05:00.000Z'),
}

const revert: HistoryEntry = {
  ...change,
  id: 1047,
  user: { name: 'Grace Hopper', email: 'grace@example.com' },
  commitSha: '0b1d3f5a7c9e1b3d5f7a8f3a1c5e7b9d2f4a6c8e',
  prNumber: 43,
  prUrl: 'https://github.com/acme/prompts/pull/43',
  createdAt: Date.parse('2026-11-14T17:40:00.000Z'),
}

export const toldPrompt: ToldPrompt = {
  prompt: { publicId: 'pmt_5mVq2Xc8Rj0LwTz7Kb4NyHdA', name: 'support/refund-reply' },
  regressionId: 7,
  entryId: change.id,
  state: 'open',
  liveFrom: Date.parse('2026-11-12T16:05:00.000Z'),
  before: { rate: 0.85, signals: 1_204 },
  after: { rate: 0.6, signals: 310 },
  difference: -0.25,
  interval: [-0.29, -0.21],
  explanation:
    '60% of 310 votes are positive after this change, 85% of 1,204 votes before it. A fall of this size at this moment is at ' +
    'least 20 times more likely with an effect of the change than without one.',
  repairedBy: null,
  repairedEntry: null,
  owner: 'ada@example.com',
  comments: [
    { text: 'It did not tell me when I get my money back', at: Date.parse('2026-11-14T17:58:00.000Z') },
    { text: 'Asked for the order number twice', at: Date.parse('2026-11-14T17:21:00.000Z') },
    { text: 'too short, felt rude', at: Date.parse('2026-11-14T16:44:00.000Z') },
  ],
}

export const openedMessage: RegressionMessage = {
  event: 'regression.opened',
  at,
  organisation,
  change,
  title: 'Shorten the refund reply',
  repositoryId: 3,
  prompts: [toldPrompt],
  dedupKey: 'pull/hk_2mXqLr5Tz1Nv/42',
}

const trial: TrialMessage['trial'] = {
  id: 'trl_7Kd2mXqLr5Tz1NvB8cWf3HyJ',
  repositoryId: 3,
  prNumber: 42,
  commitSha: change.commitSha,
  share: 0.1,
  startedBy: 'ada',
  startedAt: Date.parse('2026-11-12T16:05:00.000Z'),
  ending: null,
  findings: {
    mismatch: null,
    judgedAt: at,
    arms: {
      control: { exposures: 1_140, voters: 500, positive: 425 },
      candidate: { exposures: 127, voters: 60, positive: 54 },
    },
    difference: 0.05,
    interval: [0.01, 0.1],
    daysLeft: null,
  },
}

const worseFindings = {
  ...(trial.findings as TrialFindings),
  arms: {
    control: { exposures: 1_140, voters: 500, positive: 425 },
    candidate: { exposures: 127, voters: 60, positive: 36 },
  },
  difference: -0.25,
  interval: [-0.37, -0.12] as [number, number],
}

const trialMessage = { at, organisation, trial, prUrl: change.prUrl, prompts: [{ prompt: toldPrompt.prompt }] }

const digestChange: DigestChange = {
  prompt: toldPrompt.prompt,
  entryId: change.id,
  commitSha: change.commitSha,
  prNumber: change.prNumber,
  author: change.user.name,
  liveFrom: toldPrompt.liveFrom,
  before: toldPrompt.before,
  after: toldPrompt.after,
  interval: toldPrompt.interval,
}

/** One message of each event, as people would get them. */
export const messages: Record<Message['event'], Message> = {
  'regression.opened': openedMessage,
  'regression.repaired': {
    ...openedMessage,
    event: 'regression.repaired',
    prompts: [{ ...toldPrompt, state: 'repaired', repairedBy: 'revert', repairedEntry: revert, comments: [] }],
  },
  'regression.withdrawn': {
    ...openedMessage,
    event: 'regression.withdrawn',
    prompts: [{ ...toldPrompt, state: 'withdrawn', interval: [-0.06, 0.02], comments: [] }],
  },
  'regression.dismissed': {
    ...openedMessage,
    event: 'regression.dismissed',
    prompts: [{ ...toldPrompt, state: 'dismissed' }],
  },
  'shift.unexplained': {
    event: 'shift.unexplained',
    at,
    organisation,
    prompts: [
      {
        prompt: toldPrompt.prompt,
        shiftId: 'shf_5f1c0a7be92d4c3388d1e6aa',
        owner: null,
        shiftedAt: Date.parse('2026-11-13T09:30:00.000Z'),
        between: [Date.parse('2026-11-13T08:00:00.000Z'), Date.parse('2026-11-13T11:00:00.000Z')],
        rateBefore: 0.88,
        rateAfter: 0.71,
      },
    ],
    promptCount: 12,
  },
  'limit.near': {
    event: 'limit.near',
    at,
    organisation,
    month: '2026-11',
    limit: 10_000,
    used: 8_012,
    resetsAt: Date.parse('2026-12-01T00:00:00.000Z'),
  },
  'limit.reached': {
    event: 'limit.reached',
    at,
    organisation,
    month: '2026-11',
    limit: 10_000,
    used: 10_000,
    resetsAt: Date.parse('2026-12-01T00:00:00.000Z'),
  },
  'repository.failing': {
    event: 'repository.failing',
    at,
    organisation,
    repository: { id: 3, url: 'https://github.com/acme/prompts.git' },
    error: 'the repository does not exist, or the server requires a token or deploy key with read access',
    since: Date.parse('2026-11-14T15:00:00.000Z'),
  },
  'repository.recovered': {
    event: 'repository.recovered',
    at,
    organisation,
    repository: { id: 3, url: 'https://github.com/acme/prompts.git' },
    error: null,
    since: Date.parse('2026-11-14T15:00:00.000Z'),
  },
  'trial.started': { ...trialMessage, event: 'trial.started', trial: { ...trial, findings: null } },
  'trial.better': { ...trialMessage, event: 'trial.better' },
  'trial.worse': {
    ...trialMessage,
    event: 'trial.worse',
    trial: { ...trial, ending: 'worse', findings: worseFindings },
  },
  'trial.stopped': { ...trialMessage, event: 'trial.stopped', trial: { ...trial, ending: 'live' } },
  'trial.mismatch': { ...trialMessage, event: 'trial.mismatch' },
  'digest.weekly': {
    event: 'digest.weekly',
    at,
    organisation,
    from: Date.parse('2026-11-09T00:00:00.000Z'),
    until: Date.parse('2026-11-16T00:00:00.000Z'),
    helped: [
      {
        ...digestChange,
        prompt: { publicId: toldPrompt.prompt.publicId, name: 'support/greeting' },
        before: { rate: 0.7, signals: 900 },
        after: { rate: 0.85, signals: 410 },
        interval: [0.1, 0.19],
      },
    ],
    hurt: [{ ...digestChange, regressionId: 7, state: 'open', openedAt: Date.parse('2026-11-13T03:20:00.000Z') }],
    undecided: [{ ...digestChange, after: { rate: 0.8, signals: 40 }, interval: [-0.19, 0.06], daysLeft: 6 }],
    counts: { helped: 1, hurt: 1, undecided: 2 },
  },
  'alert.test': { event: 'alert.test', at, organisation, alert: 'On call' },
}

/** The event with the given text in every field that tenants, authors or users choose. */
export function messagesWith(text: string): Message[] {
  const person = { name: text, email: text }
  const entry = { ...change, user: person, branchName: text, prUrl: text }
  const told: ToldPrompt = {
    ...toldPrompt,
    prompt: { ...toldPrompt.prompt, name: text },
    explanation: text,
    repairedEntry: entry,
    comments: [{ text, at }],
  }
  const names = { organisation: { id: 1, name: text } }
  return Object.values(messages).map((message): Message => {
    switch (message.event) {
      case 'regression.opened':
      case 'regression.repaired':
      case 'regression.withdrawn':
      case 'regression.dismissed':
        return { ...message, ...names, change: entry, title: text, prompts: [told, told] }
      case 'shift.unexplained':
        return { ...message, ...names, prompts: message.prompts.map((part) => ({ ...part, prompt: told.prompt })) }
      case 'repository.failing':
      case 'repository.recovered':
        return { ...message, ...names, repository: { id: 3, url: text }, error: text }
      case 'trial.started':
      case 'trial.better':
      case 'trial.worse':
      case 'trial.stopped':
      case 'trial.mismatch':
        return {
          ...message,
          ...names,
          trial: { ...message.trial, startedBy: text },
          prUrl: text,
          prompts: [{ prompt: told.prompt }],
        }
      case 'digest.weekly': {
        const listed = { prompt: told.prompt, author: text }
        return {
          ...message,
          ...names,
          helped: message.helped.map((each) => ({ ...each, ...listed })),
          hurt: message.hurt.map((each) => ({ ...each, ...listed })),
          undecided: message.undecided.map((each) => ({ ...each, ...listed })),
        }
      }
      case 'alert.test':
        return { ...message, ...names, alert: text }
      default:
        return { ...message, ...names }
    }
  })
}
