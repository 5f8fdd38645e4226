import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { type CliResult, runCli } from '../../../testing/cli.ts'
import { eventually } from '../../../testing/eventually.ts'
import { type RunningProcess, startDemo } from '../../../testing/processes.ts'

const patience = { timeoutMs: 60_000, intervalMs: 1_000 }

interface Change {
  entry: { id: number; action: string; commit_sha: string }
  impact: { verdict: string } | null
}

describe('The commands over HTTP on the demo, whose prompts are in a repository', () => {
  let demo: RunningProcess
  let env: NodeJS.ProcessEnv
  let worse: Change
  before(async () => {
    demo = await startDemo({})
    const [key] = /plk_\w+/.exec(demo.output().stdout) as RegExpExecArray
    env = { PROMPTLEDGER_URL: demo.address, PROMPTLEDGER_KEY: key }
    const changes = await json<Change[]>('log', 'support-reply', '-n', '500')
    worse = changes.find(({ impact }) => impact?.verdict === 'worse') as Change
  })
  // A killed demo leaves its data behind.
  after(() => demo.stop())

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
    const shown = await json<Change & { after: string }>('show', `support-reply@${worse.entry.commit_sha.slice(0, 10)}`)
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
