import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { type CliResult, runCli } from '../../../testing/cli.ts'
import { eventually } from '../../../testing/eventually.ts'
import { mainScript, type RunningProcess, startDemo } from '../../../testing/processes.ts'

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

interface Change {
  entry: { id: number; action: string; commit_sha: string }
  impact: { verdict: string } | null
}

interface Impact {
  entry: Entry
  difference: number | null
  verdict: string
}

const day = 24 * 3_600_000
const patience = { timeoutMs: 60_000, intervalMs: 250 }

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
    await eventually(async () => {
      const open = await get<{ prompt: Prompt; change: Entry }[]>('regressions?state=open')
      assert.deepEqual(
        open.map(({ prompt, change }) => [prompt.name, change.action]),
        [['prompts/delivery-status.md', 'pr_merged']],
      )
    }, patience)
  })

  test('the shifts of the demo are its changes that made a difference, and a fall without one', async () => {
    // The judge finds them in the background.
    await eventually(async () => {
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
    }, patience)
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

  describe('The commands over HTTP on the demo, whose prompts are in a repository', () => {
    let env: NodeJS.ProcessEnv
    let worse: Change
    before(async () => {
      const [key] = /plk_\w+/.exec(demo.output().stdout) as RegExpExecArray
      env = { PROMPTLEDGER_URL: demo.address, PROMPTLEDGER_KEY: key }
      const changes = await json<Change[]>('log', 'support-reply', '-n', '500')
      worse = changes.find(({ impact }) => impact?.verdict === 'worse') as Change
    })

    const run = (...args: string[]): Promise<CliResult> => runCli(env, args)
    async function json<T>(...args: string[]): Promise<T> {
      const { code, stdout, stderr } = await run(...args, '--json')
      assert.equal(code, 0, stderr)
      return JSON.parse(stdout)
    }

    test('the log has one row for each pull request, and its opening with --all', async () => {
      const rows = await json<Change[]>('log', 'support-reply', '-n', '500')
      const all = await json<Change[]>('log', 'support-reply', '-n', '500', '--all')
      const opened = (changes: Change[]) => changes.filter(({ entry }) => entry.action === 'pr_opened').length
      assert.ok(opened(all) > opened(rows))
      assert.match((await run('log', 'support-reply', '-n', '5')).stdout, /^Date: {3}.* UTC, opened \d{4}-\d\d-\d\d/m)
    })

    test('show prints message, figures, explanation and the changed lines of one change', async () => {
      const { stdout } = await run('show', String(worse.entry.id))
      assert.match(
        stdout,
        /^change \d+ merged #\d+ [0-9a-f]{10}\nPrompt: prompts\/support-reply\.md\nPull: {3}https:\/\//,
      )
      assert.match(
        stdout,
        /^Effect: Worse, \d+% of [\d,]+ → \d+% of [\d,]+ signals positive, -\d+ points \(-\d+ to -\d+\)$/m,
      )
      assert.match(stdout, /^ {4}Keep replies to three sentences/m)
      assert.match(stdout, /^ {4}.*votes are positive after this change/m)
      assert.match(
        stdout,
        /^-- After that, explain only what the customer needs for the next step\.\n\+- Write three sentences/m,
      )
      const shown = await json<Change & { after: string }>(
        'show',
        `support-reply@${worse.entry.commit_sha.slice(0, 10)}`,
      )
      assert.equal(shown.entry.id, worse.entry.id)
      assert.equal((await run('show', String(worse.entry.id), '--text')).stdout, shown.after)
    })

    test('diff compares two versions word by word, with the figures of both', async () => {
      const changes = await json<Change[]>('log', 'support-reply', '-n', '500')
      const landed = changes.filter(({ impact }) => impact !== null)
      const before = landed[landed.findIndex(({ entry }) => entry.id === worse.entry.id) + 1] as Change
      const [a, b] = [String(before.entry.id), String(worse.entry.id)]
      const { stdout } = await runCli({ ...env, FORCE_COLOR: '1' }, ['diff', a, b])
      const plain = stripVTControlCharacters(stdout)
      assert.match(
        plain,
        new RegExp(`^--- change ${a} of prompts/support-reply\\.md, .*: \\d+% of [\\d,]+ signals positive$`, 'm'),
      )
      assert.match(plain, new RegExp(`^\\+\\+\\+ change ${b} of .*Jonas Weber`, 'm'))
      assert.ok(stdout.includes('\u001b[32;7m'), 'changed words are marked')
      assert.match(plain, /^\+- Write three sentences/m)
      assert.equal((await run('diff', `support@${a}`, b)).stdout, plain)
      assert.match((await run('diff', a, a)).stdout, /The texts are the same\.\n$/)
      assert.match((await run('diff', a)).stdout, /^\+\+\+ change \d+/m)
      const compared = await json<{ a: { text: string }; b: { text: string; entry: { id: number } } }>('diff', a, b)
      assert.equal(compared.b.entry.id, worse.entry.id)
      assert.notEqual(compared.a.text, compared.b.text)
      const [ofAnother] = await json<Change[]>('log', 'delivery-status', '-n', '1')
      const mixed = await run('diff', a, String(ofAnother?.entry.id))
      assert.equal(mixed.code, 4)
      assert.match(mixed.stderr, /is a change of prompts\/delivery-status\.md, not of prompts\/support-reply\.md/)
    })

    test('blame shows the change, the author and the pull request of each line', async () => {
      const { stdout } = await run('blame', String(worse.entry.id))
      assert.match(
        stdout,
        new RegExp(
          `^${worse.entry.id} +\\d{4}-\\d\\d-\\d\\d Jonas Weber +#\\d+ +\\d+│ - Write three sentences at most`,
          'm',
        ),
      )
      const { after } = await json<{ after: string }>('show', String(worse.entry.id))
      assert.equal(stdout.replaceAll(/^.*?│ /gm, ''), after)
      const blamed = await json<{ content: string; lines: { end: number }[] }>('blame', String(worse.entry.id))
      assert.equal(blamed.content, after)
      assert.equal(blamed.lines.at(-1)?.end, after.trimEnd().split('\n').length)
      assert.match((await run('blame', 'support-reply')).stdout, /│ # Reply to a customer$/m)
    })

    test('search finds a phrase in live and past texts, with the change that brought it', async () => {
      const { stdout } = await run('search', 'WRITE three sentences')
      assert.match(stdout, /^prompts\/support-reply\.md past \d{4}-\d\d-\d\d to \d{4}-\d\d-\d\d, \d+ versions?$/m)
      assert.match(stdout, new RegExp(`^from change ${worse.entry.id} merged #29 by Jonas Weber`, 'm'))
      assert.match(stdout, /^ {4}.*Write three sentences at most/m)
      const [match] = await json<{ first_entry: { id: number } }[]>('search', 'write three sentences', '-n', '1')
      assert.equal(match?.first_entry.id, worse.entry.id)
      assert.match((await run('search', 'no such phrase')).stderr, /^Not found in [\d,]+ versions\.$/m)
    })

    test('impact shows the verdict on each change, and regressions what became of the bad one', async () => {
      const { stdout } = await run('impact', 'support-reply', '-n', '100')
      assert.match(stdout, /^CHANGE +LIVE FROM +WHAT +EFFECT +POSITIVE +DIFFERENCE +SIGNALS +AUTHOR$/m)
      assert.match(stdout, new RegExp(`^${worse.entry.id} +\\S+ +merged #\\d+ +Worse +8\\d% → 7\\d% `, 'm'))
      // The judge of the demo may still be at work.
      await eventually(async () => {
        const all = await json<{ change: { id: number }; state: string }[]>(
          'regressions',
          'support-reply',
          '--state',
          'all',
        )
        assert.equal(all.find(({ change }) => change.id === worse.entry.id)?.state, 'repaired')
      }, patience)
      const open = await json<{ state: string }[]>('regressions')
      assert.ok(open.every(({ state }) => state === 'open'))
      assert.match((await run('regressions', '--state', 'all')).stdout, /support-reply\.md +repaired +8\d% → 7\d% /)
    })
  })

  test('the demo does not touch the configured database and leaves no files when it stops', async () => {
    assert.equal(leftovers().length, 1)
    assert.equal(await demo.stop('SIGTERM'), 0)
    assert.deepEqual(leftovers(), [])
    assert.ok(!existsSync(join(folder, 'mine.db')))
  })

  test('a demo interrupted before it is ready leaves no files', async (t) => {
    const child = spawn(process.execPath, [mainScript, 'demo', '--port', '0'], {
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
})
