import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { onOneEngine } from '../../../testing/engines.ts'
import type { ForgeEvent } from '../../../testing/forge-events.ts'
import { writeRef } from '../../../testing/git-checkout.ts'
import { ada, bob, GitRepository } from '../../../testing/git-repository.ts'
import { deliveriesFrom } from '../../../testing/payloads/deliveries.ts'
import type { ForgeName, PullFacts } from '../../../testing/payloads/facts.ts'
import { queryRows } from '../../../testing/rows.ts'
import { Scenario } from '../../../testing/scenario.ts'
import { type TestService, useService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import type { Repository } from '../../src/domain/repositories/repository.ts'
import { connectRepository } from '../../src/follow/connect.ts'
import { syncWithLease } from '../../src/follow/worker.ts'
import { forgeOf } from '../../src/forges/index.ts'

const [p, q] = ['prompts/p.md', 'prompts/q.md']

/** Pushes by several users, and pull requests that are merged by fast-forward, rebase and squash, and closed. */
function busyDay(forge: ForgeName): { git: GitRepository; start: string; events: ForgeEvent[] } {
  const git = new GitRepository()
  const start = git.commit('Start', { [p]: '0\n', [q]: '0\n' })
  git.push()
  const events: ForgeEvent[] = []
  let tip = start
  let minute = 0
  const now = () => `2026-03-05T10:${String(++minute).padStart(2, '0')}:00Z`

  function pushMain(pusher: string): void {
    const [before, after] = [tip, git.head('main')]
    tip = after
    events.push({ refs: [['refs/heads/main', after]], delivery: (to) => to.push({ before, after, pusher }) })
  }

  function pull(action: PullFacts['action'], number: number, facts: Partial<PullFacts> = {}): void {
    const branch = `pull-${number}`
    const head = facts.head ?? git.head(branch)
    const refs = [`refs/heads/${branch}`, forgeOf(forge).pullRef(number)].flatMap((ref) => ref ?? [])
    const mergeBase = git.git('merge-base', head, action === 'merged' ? `${tip}~2` : 'main')
    const count = Number(git.git('rev-list', '--count', head, `^${mergeBase}`))
    const openedAt = `2026-03-05T0${number}:00:00Z`
    const report = { number, head, headBranch: branch, openedAt, at: action === 'opened' ? openedAt : now() }
    const known = { ...(forge === 'github' ? { commitCount: count } : {}), mergeBase }
    events.push({
      refs: refs.map((ref) => [ref, head]),
      delivery: (to) => to.pull({ action, ...report, ...known, ...facts }),
    })
  }

  function open(number: number, ...commits: Record<string, string>[]): string {
    git.switchTo(`pull-${number}`, 'main')
    for (const files of commits) git.commit(`Change ${number}`, files, { author: bob })
    git.switchTo('main')
    pull('opened', number)
    return git.head(`pull-${number}`)
  }

  git.commit('One', { [p]: '1\n' })
  git.commit('Two', { [p]: '2\n' })
  pushMain('ada-l')
  const first = open(1, { [p]: 'ff\n' }, { [q]: 'ff\n' })
  git.git('merge', '--quiet', '--ff-only', 'pull-1')
  pushMain('merger')
  // GitLab reports no commit for a fast-forward or a squash.
  const landedAs = (commit: string) => (forge === 'gitlab' ? null : commit)
  pull('merged', 1, { head: first, mergeCommit: landedAs(first) })
  git.commit('Three', { [p]: '3\n' }, { author: ada })
  git.commit('Four', { [q]: '4\n' })
  pushMain('bob')
  const second = open(2, { [p]: 'squash 1\n' }, { [p]: 'squash 2\n' })
  open(3, { [q]: 'closed\n' })
  git.commit('Five', { 'README.md': '5\n' })
  git.commit('Six', { [q]: '6\n' })
  pushMain('ada-l')
  const squashed = git.squash('pull-2', 'Squash it', { author: bob })
  pushMain('merger')
  pull('merged', 2, { head: second, mergeCommit: landedAs(squashed) })
  pull('closed', 3)
  // The remote has all commits from the start; only the refs that point at them change with each event.
  const commits = new Set(events.flatMap(({ refs }) => refs.map(([, commit]) => commit)))
  git.push(...[...commits].map((commit) => `${commit}:refs/all/${commit}`))
  return { git, start, events }
}

async function connect(service: TestService, forge: ForgeName, git: GitRepository): Promise<Scenario> {
  const tenant = await service.tenant('free', 'admin')
  const { lease, secret } = await connectRepository(
    service.syncContext,
    {
      organisationId: tenant.organisation.id,
      forge,
      url: git.remote,
      path: 'prompts/**',
      similarity: 100,
      token: null,
      secret: null,
    },
    operator,
  )
  await syncWithLease(service.syncContext, lease)
  const repository = (await service.store.repositories.find(lease.repository.id)) as Repository
  return new Scenario(service, tenant, git, forge, repository, secret)
}

interface Schedule {
  /** The order of the deliveries, as far as their events have happened. */
  order: number[]
  /** What happens next: an event at the forge, a delivery, or a sync without one. */
  steps: ('event' | 'delivery' | 'read')[]
}

/** Plays the events in their order, and the deliveries and reads of git by the schedule. Returns the history with its actors. */
async function play(
  service: TestService,
  forge: ForgeName,
  day: ReturnType<typeof busyDay>,
  { order, steps }: Schedule,
) {
  const { git, start, events } = day
  for (const [ref] of events.flatMap(({ refs }) => refs)) rmSync(join(git.remote, ref), { force: true })
  writeRef(git.remote, 'refs/heads/main', start)
  const s = await connect(service, forge, git)
  const deliveries = deliveriesFrom(forge, s.secret)
  const waiting = [...order]
  let happened = 0
  const next = {
    event: async () => {
      for (const [ref, commit] of events[happened]?.refs ?? []) writeRef(git.remote, ref, commit)
      happened += 1
    },
    delivery: async () => {
      const at = waiting.findIndex((i) => i < happened)
      const [i] = at === -1 ? [] : waiting.splice(at, 1)
      if (i !== undefined) await s.deliver((events[i] as ForgeEvent).delivery(deliveries))
    },
    read: async () => {
      service.now += 3_600_000
      await s.sync()
    },
  }
  for (const step of steps) await next[step]()
  while (happened < events.length) await next.event()
  while (waiting.length > 0) await next.delivery()
  await s.advance(60)
  await next.read()
  assert.deepEqual(new Set(await s.deliveryStates()), new Set(['done']))
  const rows = await queryRows(
    service.url,
    `select h.path, h.action, h.commit_sha, h.pr_number, h.user_name, h.branch_name, h.created_at, h.actor
     from history_entries h where h.repository_id = ${s.repository.id}`,
  )
  return rows.map((row) => JSON.stringify(row)).sort()
}

// Slow: follows one day in many orders and groupings, on every forge.
onOneEngine('The timing of deliveries', (engine) => {
  const service = useService(engine)

  // The length of the schedules is random.
  const timeout = 600_000
  for (const forge of ['github', 'gitlab', 'gitea', 'bitbucket'] as ForgeName[]) {
    const name = `${forge}: the history and its actors depend neither on the order of deliveries nor on when git is read`
    test(name, { timeout }, async () => {
      const day = busyDay(forge)
      const indices = [...day.events.keys()]
      const expected = await play(service, forge, day, {
        order: indices,
        steps: indices.flatMap(() => ['event', 'delivery'] as const),
      })
      const actors = expected.map((row) => JSON.parse(row)).map(({ action, actor }) => `${action} ${actor}`)
      assert.deepEqual(
        actors.sort(),
        [
          ...Array(2).fill('deployed ada-l'),
          'deployed ada-l',
          ...Array(2).fill('deployed bob'),
          ...Array(2).fill('deployed null'),
          'pr_closed grace',
          ...Array(3).fill('pr_merged grace'),
          ...Array(4).fill('pr_opened ada'),
        ].sort(),
      )
      const schedule = fc.record({
        order: fc.shuffledSubarray(indices, { minLength: indices.length }),
        steps: fc.array(fc.constantFrom('event' as const, 'event' as const, 'delivery' as const, 'read' as const), {
          maxLength: 20,
        }),
      })
      await fc.assert(
        fc.asyncProperty(schedule, async (run) => assert.deepEqual(await play(service, forge, day, run), expected)),
        { numRuns: 2, endOnFailure: true },
      )
    })
  }
})
