import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { runCli, runCliJson } from '../../../testing/cli.ts'
import { sqlite } from '../../../testing/engines.ts'

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
    assert.match((await run(['key', 'create', '--org', '1'])).stdout, /^plk_\w+\nKey \d+.*not shown again/)
    assert.match((await run(['key', 'list', '--org', '1'])).stdout, /^id +name +role +prompts +hint/)
    assert.match((await run(['migrate'])).stdout, /^The database is at version \d+\n$/)
    assert.match((await run(['--help'])).stdout, /Usage: promptledger/)
    assert.match((await run(['--version'])).stdout, /^\d+\.\d+\.\d+\n$/)
  })
})
