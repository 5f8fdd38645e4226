import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { eventually } from '../../../testing/eventually.ts'
import { type RunningProcess, startDemo } from '../../../testing/processes.ts'

interface Prompt {
  id: string
  name: string
}

interface Entry {
  id: number
  action: string
  commit_sha: string
  pr_url: string | null
  created_at: string
}

interface Impact {
  entry: Entry
  difference: number | null
  verdict: string
}

const day = 24 * 3_600_000

describe('The demo', () => {
  let folder: string
  let env: NodeJS.ProcessEnv
  let demo: RunningProcess
  let prompts: Prompt[]
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'promptledger-test-'))
    env = { TMPDIR: folder, DATABASE_URL: `sqlite:${folder}/mine.db` }
    demo = await startDemo(env)
    prompts = await get<Prompt[]>('prompts')
  })
  after(() => rm(folder, { recursive: true, force: true }))

  const leftovers = () => readdirSync(folder).filter((name) => name.startsWith('promptledger-demo-'))

  async function get<T>(path: string): Promise<T> {
    const [key] = /plk_\w+/.exec(demo.output().stdout) as RegExpExecArray
    const response = await fetch(`${demo.address}/api/v1/${path}`, { headers: { authorization: `Bearer ${key}` } })
    assert.equal(response.status, 200, path)
    return ((await response.json()) as { data: T }).data
  }

  const historyOf = ({ id }: Prompt) => get<Entry[]>(`prompts/${id}/history?limit=100`)
  const impactOf = ({ id }: Prompt) => get<Impact[]>(`prompts/${id}/impact?limit=100`)
  const promptNamed = (name: string) => prompts.find((prompt) => prompt.name === name) as Prompt

  test('the demo has four prompts with a year of pushes and pull requests, each with its URL', async () => {
    assert.equal(prompts.length, 4)
    for (const prompt of prompts) {
      const history = await historyOf(prompt)
      assert.deepEqual(
        [...new Set(history.map(({ action }) => action))].sort(),
        ['deployed', 'pr_closed', 'pr_merged', 'pr_opened'],
        prompt.name,
      )
      const times = history.map(({ created_at }) => Date.parse(created_at))
      assert.ok(Date.now() - Math.min(...times) > 360 * day)
      assert.ok(Date.now() - Math.max(...times) < 45 * day)
      for (const { action, pr_url } of history) {
        if (action === 'deployed') assert.equal(pr_url, null)
        else assert.match(pr_url as string, /^https:\/\/github\.com\/acme\/prompts\/pull\/\d+$/)
      }
    }
  })

  test('one change helped, one hurt and was reverted two weeks later, and many had no effect', async () => {
    const changes = await impactOf(promptNamed('prompts/support-reply.md'))
    const telling = changes.filter(({ verdict }) => verdict === 'better' || verdict === 'worse').reverse()
    assert.deepEqual(
      telling.map(({ verdict }) => verdict),
      ['better', 'worse', 'better'],
    )
    const [, hurt, reverted] = telling.map(({ entry }) => Date.parse(entry.created_at)) as [number, number, number]
    assert.equal(Math.round((reverted - hurt) / day), 14)
    assert.ok(changes.filter(({ verdict }) => verdict === 'no_difference_seen').length > 10)
    for (const { difference } of telling) assert.ok(Math.abs(difference as number) > 0.09)
  })

  test('the last change of each prompt has a different verdict', async () => {
    const last = async (name: string) => (await impactOf(promptNamed(name)))[0]?.verdict
    assert.equal(await last('prompts/support-reply.md'), 'no_difference_seen')
    assert.equal(await last('prompts/summarise-ticket.md'), 'better')
    assert.equal(await last('prompts/product-search.md'), 'too_little_data')
    assert.equal(await last('prompts/delivery-status.md'), 'worse')
  })

  test('a fall that no change explains is not blamed on the change before it', async () => {
    const verdicts = (await impactOf(promptNamed('prompts/summarise-ticket.md'))).map(({ verdict }) => verdict)
    assert.equal(verdicts.filter((verdict) => verdict === 'unexplained').length, 1)
    assert.ok(!verdicts.includes('worse'))
  })

  test('the demo says what it does while it prepares', () => {
    assert.match(
      demo.output().stderr,
      /^Preparing the demo, .+…\nCreating a git repository .+…\nRecording [\d,]+ signals…\nJudging the changes…\n/,
    )
  })

  test('one change that hurt is still live: an open regression', async () => {
    await eventually(
      async () => {
        const open = await get<{ prompt: Prompt; change: Entry }[]>('regressions?state=open')
        assert.deepEqual(
          open.map(({ prompt, change }) => [prompt.name, change.action]),
          [['prompts/delivery-status.md', 'pr_merged']],
        )
      },
      { timeoutMs: 60_000, intervalMs: 250 },
    )
  })

  test('the shifts of the demo are its changes that made a difference, and a fall without one', async () => {
    // The judge finds them in the background.
    await eventually(
      async () => {
        const shifts = await get<{ prompt: Prompt; cause: { change?: Entry } }[]>('shifts')
        const names = shifts.map(({ prompt }) => prompt.name)
        assert.deepEqual(names, [
          'prompts/delivery-status.md',
          'prompts/summarise-ticket.md',
          'prompts/support-reply.md',
          'prompts/summarise-ticket.md',
          'prompts/support-reply.md',
          'prompts/support-reply.md',
        ])
        assert.deepEqual(shifts[3]?.cause, { unexplained: true })
        const telling = (await impactOf(promptNamed('prompts/support-reply.md'))).filter(({ verdict }) =>
          ['better', 'worse'].includes(verdict),
        )
        assert.deepEqual(
          [2, 4, 5].map((place) => shifts[place]).map((shift) => shift?.cause.change?.id),
          telling.map(({ entry }) => entry.id),
        )
      },
      { timeoutMs: 60_000, intervalMs: 250 },
    )
  })

  test('the last change of the product search is a canary beside the version before it, and both have signals', async () => {
    const { id } = promptNamed('prompts/product-search.md')
    const live = await get<{ entry: Entry; share: number; also_live: { entry: Entry; share: number }[] }>(
      `prompts/${id}/live`,
    )
    assert.deepEqual([live.share, live.also_live.map(({ share }) => share)], [0.8, [0.2]])
    for (const entry of [live.entry, live.also_live[0]?.entry]) {
      const { impact } = await get<{ impact: { after: { positive: number } } }>(`prompts/${id}/timeline/${entry?.id}`)
      assert.ok(impact.after.positive > 5)
    }
  })

  test('signals have comments, and declared segments to break an effect down by', async () => {
    const prompt = promptNamed('prompts/support-reply.md')
    const hurt = (await impactOf(prompt)).find(({ verdict }) => verdict === 'worse') as Impact
    const query = `change=${hurt.entry.id}&side=after&value=negative&comment=any&limit=5`
    assert.equal((await get<unknown[]>(`prompts/${prompt.id}/signals?${query}`)).length, 5)
    const { segments } = await get<{ segments: { values: { value: string; difference: number }[] } }>(
      `prompts/${prompt.id}/timeline/${hurt.entry.id}?by=metadata.model`,
    )
    const [large, small] = segments.values
    assert.deepEqual([large?.value, small?.value], ['large-2', 'small-3'])
    assert.ok((large?.difference ?? 0) < -0.1)
  })

  test('every entry shows what it changed in the text', async () => {
    for (const prompt of prompts) {
      for (const { id, action } of (await historyOf(prompt)).slice(0, 8)) {
        const { before, after, patch } = await get<Record<string, string>>(`prompts/${prompt.id}/history/${id}`)
        assert.match(patch as string, /^\+[^+]/m, action)
        assert.notEqual(before, after)
        assert.ok((after as string).split('\n').length > 15)
      }
    }
  })

  test('every month has signals and stays below the limit of the plan', async () => {
    const { limit, months } = await get<{ limit: number; months: { used: number }[] }>('usage')
    assert.equal(months.length, 12)
    for (const { used } of months.slice(1)) assert.ok(used > limit / 10 && used < limit / 2, `${used} of ${limit}`)
  })

  test('the demo has active, expiring and revoked keys', async () => {
    const keys = await get<{ role: string; expires_at: string | null; revoked_at: string | null }[]>('keys')
    assert.deepEqual([...new Set(keys.map(({ role }) => role))].sort(), ['admin', 'ingest', 'signing', 'standard'])
    assert.ok(keys.some(({ expires_at }) => expires_at !== null))
    assert.ok(keys.some(({ revoked_at }) => revoked_at !== null))
  })

  test('a page of the demo gets tokens, and votes with them for the newest version', async () => {
    const { prompt, tokens } = (await (await fetch(`${demo.address}/demo/tokens`)).json()) as Record<string, string[]>
    assert.equal(new Set(tokens).size, 10)
    const body = JSON.stringify({ token: tokens?.[0], value: 'negative', comment: 'From the page.' })
    assert.equal((await fetch(`${demo.address}/api/v1/votes`, { method: 'POST', body })).status, 200)
    const [signal] = await get<Record<string, unknown>[]>(`prompts/${prompt}/signals?comment=any&limit=1`)
    const [newest] = await impactOf({ id: String(prompt), name: '' })
    assert.deepEqual([signal?.comment, signal?.version], ['From the page.', newest?.entry.commit_sha])
  })

  test('the demo does not touch the configured database and leaves no files when it stops', async () => {
    assert.equal(leftovers().length, 1)
    assert.equal(await demo.stop('SIGTERM'), 0)
    assert.deepEqual(leftovers(), [])
    assert.ok(!existsSync(join(folder, 'mine.db')))
  })

  test('a demo interrupted before it is ready leaves no files', async (t) => {
    const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
    const child = spawn(process.execPath, [main, 'demo', '--port', '0'], {
      env: { ...process.env, ...env },
      stdio: 'ignore',
    })
    t.after(() => child.kill('SIGKILL'))
    const exited = once(child, 'exit')
    await eventually(() => assert.equal(leftovers().length, 1))
    child.kill('SIGINT')
    assert.deepEqual(await exited, [130, null])
    assert.deepEqual(leftovers(), [])
  })

  test('demo --json prints one JSON value', async () => {
    const other = await startDemo(env, ['--json'])
    const { stdout } = other.output()
    const { address, key, prompts } = JSON.parse(stdout)
    const response = await fetch(`${address}/api/v1/prompts`, { headers: { authorization: `Bearer ${key}` } })
    const { data } = (await response.json()) as { data: Prompt[] }
    assert.deepEqual(prompts.map(({ id }: Prompt) => id).sort(), data.map(({ id }) => id).sort())
    assert.equal(await other.stop('SIGINT'), 0)
    assert.deepEqual(leftovers(), [])
  })
})
