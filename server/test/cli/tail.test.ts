import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { type Account, createAccount } from '../../../testing/account.ts'
import { runCliJson } from '../../../testing/cli.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { freePort } from '../../../testing/free-port.ts'
import { mainScript, type RunningProcess, spawnNode, startServe } from '../../../testing/processes.ts'

const patience = { timeoutMs: 60_000, intervalMs: 200 }

onOneEngine('Following signals over HTTP', (engine) => {
  let url: string
  let port: number
  let service: RunningProcess
  let account: Account
  before(async () => {
    ;({ url } = await engine.create())
    account = await createAccount(url, 'business')
    port = await freePort()
    service = await startServe({ DATABASE_URL: url }, ['--port', String(port)])
    for (const comment of ['one', 'two', 'three']) await signal(comment)
  })
  after(() => service.stop())

  async function signal(comment: string): Promise<void> {
    const response = await fetch(`${service.address}/api/v1/prompts/${account.promptId}/signals`, {
      method: 'POST',
      headers: { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ value: 'negative', comment }),
    })
    assert.equal(response.status, 201)
  }

  function startTail(args: string[], key = account.key) {
    const env = { PROMPTLEDGER_URL: service.address, PROMPTLEDGER_KEY: key }
    return spawnNode([mainScript, 'signals', 'tail', 'support', ...args], { env })
  }

  test('the newest signals are printed and then each new one, once, until Ctrl-C ends it with 130', async () => {
    const { child, output, exited } = startTail(['-n', '2', '--json'])
    const comments = () =>
      output.stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line).comment)
    await eventually(() => comments().length === 2, patience)
    await signal('four')
    await signal('five')
    await eventually(() => comments().length >= 4, patience)
    await signal('six')
    await eventually(() => comments().length >= 5, patience)
    assert.deepEqual(comments(), ['two', 'three', 'four', 'five', 'six'])
    child.kill('SIGINT')
    assert.equal(await exited, 130)
    assert.equal(output.stderr, '')
  })

  test('it ends silently when the reader of its output is gone', async () => {
    const { child, output, exited } = startTail(['-n', '1'])
    await eventually(() => assert.notEqual(output.stdout, '', output.stderr), patience)
    const ended = once(child, 'exit')
    child.stdout?.destroy()
    await eventually(async () => {
      await signal('more')
      return child.exitCode !== null
    }, patience)
    await ended
    assert.equal(await exited, 0)
    assert.equal(output.stderr, '')
  })

  // The last one: the service that it starts ends with it.
  test('it survives a restart of the service, and ends when its key is revoked', async () => {
    const create = ['key', 'create', '--org', String(account.organisationId)]
    const { id, key } = await runCliJson<{ id: number; key: string }>(url, create)
    const { output, exited } = startTail(['-n', '1'], key)
    await eventually(() => output.stdout !== '', patience)
    await service.stop()
    await eventually(() => output.stderr.includes('Trying again…'), patience)
    service = await startServe({ DATABASE_URL: url }, ['--port', String(port)])
    await signal('after')
    await eventually(() => output.stdout.includes('- negative  after'), patience)
    assert.match(output.stderr, /The service responds again\.\n$/)
    await runCliJson(url, ['key', 'revoke', String(id)])
    assert.equal(await exited, 3)
    assert.match(output.stderr, /rejects the key/)
  })
})
