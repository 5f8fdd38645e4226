import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { before, describe, test } from 'node:test'
import { runCli, runCliJson } from '../../../testing/cli.ts'
import { sqlite } from '../../../testing/engines.ts'
import { openTestStore } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { newPrompt } from '../../src/domain/prompt.ts'

describe('The output of the CLI', () => {
  let url: string
  before(async () => {
    ;({ url } = await sqlite.create())
    await runCliJson(url, ['org', 'create', 'Acme'])
  })
  const run = (args: string[]) => runCli({ DATABASE_URL: url }, args)

  test('a command that fails prints one line and exits with 1', async () => {
    const failures: [string[], RegExp][] = [
      [['key', 'create', '--org', '999999'], /organisation 999999.*promptledger org list/i],
      [['key', 'revoke', '999999'], /key 999999/],
      [['prompt', 'delete', 'pmt_nothing'], /prompt pmt_nothing/],
      [['org', 'set-plan', '999999', 'team'], /organisation 999999/],
      [['org', 'create', ' '], /name must not be empty/],
      [['org', 'create', 'a\nb'], /name must not contain control characters/],
    ]
    for (const [args, message] of failures) {
      const { code, stdout, stderr } = await run(args)
      assert.equal(code, 1, args.join(' '))
      assert.equal(stdout, '')
      assert.match(stderr, message)
      assert.match(stderr, /^promptledger: [^\n]+\n$/)
    }
  })

  test('wrong usage exits with 2', async () => {
    const wrong = [
      ['nonsense'],
      ['org', 'create'],
      ['org', 'create', 'A', '--plan', 'gold'],
      ['org', 'set-plan', 'one', 'team'],
      ['key', 'create'],
      ['key', 'create', '--org', '0'],
      ['key', 'create', '--org', '1', '--expires', 'soon'],
      ['key', 'create', '--org', '1', '--expires', '0d'],
      ['key', 'create', '--org', '1', '--role', 'owner'],
      ['history', 'record', 'pmt_x', '--action', 'deployed'],
      ['serve', '--port', '65536'],
      ['org', 'list', '--unknown'],
    ]
    for (const args of wrong) {
      const { code, stderr } = await run(args)
      assert.equal(code, 2, args.join(' '))
      assert.match(stderr, /^error: /)
    }
  })

  test('without --json the output is text for people', async () => {
    assert.match((await run(['org', 'list'])).stdout, /^id +name +plan +created_at\n/)
    assert.match((await run(['key', 'create', '--org', '1'])).stdout, /^plk_\w+\nCreated key \d+.*not shown again/)
    assert.match((await run(['key', 'list', '--org', '1'])).stdout, /^id +person_id +name +role +prompts +hint/)
    assert.match((await run(['migrate'])).stdout, /^The database is at version \d+\.\n$/)
    assert.match((await run(['--help'])).stdout, /Usage: promptledger/)
    assert.match((await run(['--version'])).stdout, /^\d+\.\d+\.\d+\n$/)
  })

  test('hidden and control characters in stored text are printed as escapes, and the JSON has the same value', async (t) => {
    const name = 'pay\u202epal\u{e0041}\u001b[2J\u2028\r\nacme 👩‍💻'
    const store = await openTestStore(url)
    t.after(() => store.close())
    // Validation rejects such a name today, but an older database or a git path can contain it.
    const organisation = await store.organisations.create({ name, plan: 'free', createdAt: 0 })
    await store.prompts.create({ ...newPrompt(organisation.id, 'p', 0), name }, operator)
    const escaped = 'pay\\u{202e}pal\\u{e0041}\\u{1b}[2J\\u{2028}\\u{d}'
    const listed = await run(['prompt', 'list', '--org', String(organisation.id)])
    assert.equal(listed.stdout.split('\n').length, 3, listed.stdout)
    assert.ok(listed.stdout.includes(`${escaped}\\u{a}acme 👩‍💻`), listed.stdout)
    const changed = await run(['org', 'set-plan', String(organisation.id), 'team'])
    assert.ok(changed.stdout.includes(`${escaped}\nacme 👩‍💻: team plan`), changed.stdout)
    const json = await run(['org', 'list', '--json'])
    assert.ok(json.stdout.includes('"pay\\u202epal\\udb40\\udc41\\u001b[2J'), json.stdout)
    assert.ok(JSON.parse(json.stdout).some((row: { name: string }) => row.name === name))
    const printed = listed.stdout + changed.stdout + json.stdout
    for (const raw of ['\u202e', '\u{e0041}', '\u001b', '\r']) assert.ok(!printed.includes(raw), JSON.stringify(raw))
  })

  test('every write of the CLI to the terminal escapes its text', () => {
    const folder = new URL('../../src/cli/', import.meta.url)
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
    const lines = files.flatMap((file) => readFileSync(new URL(file, folder), 'utf8').split('\n'))
    const writes = lines.filter((line) => /process\.std(out|err)\.write|console\./.test(line))
    assert.ok(writes.length >= 4)
    assert.deepEqual(
      writes.filter((line) => !/visible(Line|Json)?\(|paint\(/.test(line)),
      [],
    )
  })

  test('an error with line breaks is printed on one line', async () => {
    const file = 'missing\n\u001b[2Jpromptledger: done'
    const { code, stderr } = await runCli({ DATABASE_URL: 'sqlite::memory:' }, ['restore', file])
    assert.equal(code, 1)
    assert.match(stderr, /^promptledger: Cannot read missing\\u\{a\}\\u\{1b\}\[2Jpromptledger: done: [^\n]+\n$/)
  })

  test('hidden characters of an argument are escaped in error messages', async () => {
    const failed = await run(['prompt', 'delete', 'pmt_\u202e'])
    assert.match(failed.stderr, /prompt pmt_\\u\{202e\}/)
    const wrong = await run(['non\u202esense'])
    assert.match(wrong.stderr, /non\\u\{202e\}sense/)
    assert.equal(wrong.code, 2)
  })

  test('an organisation, a prompt and a key cannot be named with hidden characters', async () => {
    for (const args of [
      ['org', 'create', 'pay\u202epal'],
      ['prompt', 'create', '--org', '1', '--name', 'a\u{e0041}b'],
      ['key', 'create', '--org', '1', '--name', 'a\u2066b'],
    ]) {
      const { code, stderr } = await run(args)
      assert.equal(code, 1)
      assert.match(stderr, /^promptledger: name must not contain hidden characters, but has .* at character \d+\n$/)
    }
  })
})
