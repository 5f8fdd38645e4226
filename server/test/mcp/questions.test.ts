import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { onOneEngine } from '../../../testing/engines.ts'
import { useShop } from './shop.ts'

interface Call {
  tool: string
  args: Record<string, unknown>
}

const documentation = readFileSync(new URL('../../../docs/mcp.md', import.meta.url), 'utf8')

/** The calls of each question in the table of docs/mcp.md. */
const questions = new Map(
  [...documentation.matchAll(/^\| ([^|]+\?) \| (`[^|]+`) \| [^|]+ \|$/gm)].map(([, question = '', calls = '']) => [
    question,
    [...calls.matchAll(/`(\w+) (\{.*?\})`/g)].map(
      ([, tool = '', args = '']): Call => ({ tool, args: JSON.parse(args) }),
    ),
  ]),
)

interface Change {
  change: number
  action: string
  at: string
  quoted_author: string
  quoted_title: string
  pull_request?: number
  verdict: string
  effect: { verdict: string; before: Votes; after: Votes } | null
}

interface Votes {
  positive: number
  negative: number
  rate: number
}

interface Listed {
  prompts: { quoted_name: string; last_change: Change; votes_30_days: Votes }[]
}

interface Feedback {
  all_votes: Votes
  comments: { vote: string; quoted_comment: string }[]
}

interface Live extends Change {
  live: Change & { live_from: string; live_until: string | null; share: number }
  also_live: { share: number }[]
  quoted_text: string
}

type Regression = Change & { quoted_name: string; state: string }

/** What the results of the calls of each question have to say. */
const answers: Record<string, (...results: never[]) => void> = {
  'Which prompts do we have?': ({ prompts }: Listed) =>
    assert.deepEqual(
      prompts.map((prompt) => prompt.quoted_name),
      ['delivery-status', 'product-search', 'summarise-ticket', 'support-reply'].map((name) => `prompts/${name}.md`),
    ),
  'Which prompt has the unhappiest users this month?': ({ prompts: [first] }: Listed) =>
    assert.deepEqual(
      [first?.quoted_name, Math.round(100 * (first?.votes_30_days.rate ?? 0))],
      ['prompts/delivery-status.md', 69],
    ),
  'Which prompt changed last?': ({ prompts: [first] }: Listed) =>
    assert.deepEqual(
      [first?.quoted_name, first?.last_change.at.slice(0, 10)],
      ['prompts/product-search.md', '2026-10-28'],
    ),
  'Which prompt gets the most votes?': ({ prompts: [first] }: Listed) =>
    assert.equal(first?.quoted_name, 'prompts/support-reply.md'),
  'What is broken right now?': ({ regressions }: { regressions: Regression[] }) =>
    assert.deepEqual(
      regressions.map((each) => [each.quoted_name, each.quoted_title]),
      [['prompts/delivery-status.md', 'Always name a day of delivery']],
    ),
  'Which change hurt support-reply, and who wrote it?': ({ regressions }: { regressions: Regression[] }) =>
    assert.deepEqual(
      regressions.map((each) => [each.quoted_title, each.quoted_author]),
      [['Keep replies to three sentences (#29)', 'Jonas Weber']],
    ),
  'Is that repaired, and how?': (change: Change & { regression: { state: string; repaired_by: string } }) => {
    assert.equal(change.pull_request, 29)
    assert.deepEqual([change.regression.state, change.regression.repaired_by], ['repaired', 'revert'])
  },
  'What did users say about it?': ({ comments }: Feedback) => {
    assert.ok(comments.every(({ vote }) => vote === 'negative'))
    const said = new Set(comments.map((comment) => comment.quoted_comment))
    assert.ok(said.has('too short, what do I have to do now?') && said.has('no explanation at all'))
  },
  'And before it?': ({ comments }: Feedback) =>
    assert.ok(comments.some((comment) => comment.quoted_comment === 'too long')),
  'Why did delivery-status get worse?': (change: Change & { quoted_diff: string }, { comments }: Feedback) => {
    assert.equal(change.effect?.verdict, 'worse')
    assert.match(
      change.quoted_diff,
      /^\+- Always name the day of delivery\. If the carrier has not confirmed one, estimate it\.$/m,
    )
    assert.ok(comments.some((comment) => comment.quoted_comment === 'You said Tuesday. Nothing came.'))
  },
  'Does that depend on the model?': ({
    segments,
  }: {
    segments: { values: { quoted_value: string | null; verdict: string }[] }
  }) =>
    assert.deepEqual(
      segments.values.flatMap(({ quoted_value: value, verdict }) => (value === null ? [] : [[value, verdict]])),
      [
        ['large-2', 'worse'],
        ['small-3', 'worse'],
      ],
    ),
  'What was live on 3 August?': ({ live }: Live) =>
    assert.deepEqual(
      [live.quoted_title, live.live_from.slice(0, 10), live.live_until?.slice(0, 10)],
      ['A warmer closing line', '2026-07-29', '2026-08-18'],
    ),
  'What does the prompt for summaries say today?': (result: Live) =>
    assert.match(result.quoted_text, /^# Summarise a ticket\n.*Write in the language of the team/s),
  'Are two versions of the product search running?': ({ live, also_live: others }: Live) =>
    assert.deepEqual([live.share, others.map(({ share }) => share)], [0.8, [0.2]]),
  'What happened to support-reply between August and September?': ({ changes }: { changes: Change[] }) =>
    assert.deepEqual(
      changes.map((change) => [change.action, change.effect?.verdict]),
      [
        ['pr_merged', 'no_difference_seen'],
        ['pr_closed', undefined],
        ['pr_merged', 'better'],
        ['pr_merged', 'worse'],
      ],
    ),
  'Which changes helped support-reply?': ({ changes }: { changes: Change[] }) =>
    assert.deepEqual(
      changes.filter(({ effect }) => effect?.verdict === 'better').map((change) => change.quoted_title),
      ['Revert "Keep replies to three sentences"', 'Answer the question first'],
    ),
  'Is there an open pull request for it?': ({ changes }: { changes: Change[] }) =>
    assert.deepEqual(
      changes
        .filter(({ action }) => action === 'pr_opened')
        .map((change) => [change.quoted_title, change.pull_request, change.quoted_author]),
      [['Offer a call back for repairs', 43, 'Aisha Bello']],
    ),
  'Did commit 622fc09 help?': ({ effect }: Change) =>
    assert.deepEqual([effect?.verdict, effect?.before.rate, effect?.after.rate], ['better', 0.634, 0.878]),
  'What do German users dislike about delivery-status since the change?': ({ comments }: Feedback) => {
    assert.ok(comments.length > 3)
    assert.ok(comments.every(({ vote }) => vote === 'negative'))
    assert.ok(comments.some((comment) => comment.quoted_comment === 'third wrong date this week'))
  },
  'How did people vote on support-reply in October?': ({ all_votes: votes }: Feedback) =>
    assert.deepEqual([votes.positive, votes.negative], [2_175, 326]),
}

onOneEngine('The questions of docs/mcp.md on a year of the demo', (engine) => {
  const shop = useShop(engine)

  test('there are 20 of them, and each has an answer here', () => {
    assert.equal(questions.size, 20)
    assert.deepEqual([...questions.keys()], Object.keys(answers))
  })

  for (const [question, calls] of questions) {
    test(question, async () => {
      assert.ok(calls.length > 0)
      const results: unknown[] = []
      for (const { tool, args } of calls) results.push(await shop.call(tool, args))
      answers[question]?.(...(results as never[]))
    })
  }

  test('every tool answers at least one of them', () => {
    const used = new Set([...questions.values()].flat().map(({ tool }) => tool))
    assert.equal(used.size, 6)
  })
})
