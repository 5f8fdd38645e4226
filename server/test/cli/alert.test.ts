import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, test } from 'node:test'
import type { AddedAlertBody, AlertBody, AlertDeliveryBody, TestedAlertBody } from '../../../contract/alerts.ts'
import { onTestEnd } from '../../../testing/cleanup.ts'
import { type CliResult, runCli } from '../../../testing/cli.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { type ReceivedRequest, startReceiver } from '../../../testing/receiver.ts'
import { queryRows } from '../../../testing/rows.ts'

// PostgreSQL has no data folder that a key could be created in.
const secretKey = { PROMPTLEDGER_SECRET_KEY: randomBytes(32).toString('hex') }

function parsed<T>({ code, stdout, stderr }: CliResult): T {
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout)
}

onOneEngine('The alert commands', (engine) => {
  let url = ''
  let dataDir = ''
  let org = ''
  before(async () => {
    const database = await engine.create()
    dataDir = await mkdtemp(join(tmpdir(), 'promptledger-cli-'))
    url = database.url
    onTestEnd(async () => {
      await database.remove()
      await rm(dataDir, { recursive: true, force: true })
    })
    org = String(parsed<{ id: number }>(await cli(['org', 'create', 'Acme', '--json'])).id)
  })

  function cli(
    args: string[],
    { env = {}, input }: { env?: NodeJS.ProcessEnv; input?: string } = {},
  ): Promise<CliResult> {
    return runCli(
      { DATABASE_URL: url, DATA_DIR: dataDir, ALLOW: 'private-alert-targets', ...secretKey, ...env },
      args,
      input,
    )
  }

  async function add(target: string, options: string[] = []): Promise<AddedAlertBody> {
    const args = ['alert', 'add', '--org', org, '--name', 'Us', '--channel', 'webhook', '--target-stdin', ...options]
    return parsed(await cli([...args, '--json'], { input: `${target}\n` }))
  }

  test('an alert is added, listed, tested, rotated, updated and removed', async () => {
    const receiver = await startReceiver()
    const added = await add(receiver.url, [
      '--prompts',
      'a/**',
      '--events',
      'limit.near',
      'limit.reached',
      '--hold',
      '1h',
    ])
    const { secret, ...alert } = added
    assert.match(secret ?? '', /^whsec_/)
    assert.deepEqual(
      [alert.prompts, alert.events, alert.hold_minutes, alert.min_signals],
      ['a/**', ['limit.near', 'limit.reached'], 60, 50],
    )
    assert.deepEqual(parsed<AlertBody[]>(await cli(['alert', 'list', '--org', org, '--json'])), [alert])

    const test = parsed<TestedAlertBody>(await cli(['alert', 'test', alert.id, '--json']))
    assert.deepEqual([test.sent, test.status, test.response], [true, 200, 'ok'])
    assert.equal((receiver.received[0] as ReceivedRequest).headers['webhook-id'], test.id)

    const rotated = await cli(['alert', 'rotate-secret', alert.id])
    assert.match(rotated.stdout, /^whsec_\S+\nSave it now: it is not shown again\./)

    const changes = ['--name', 'Them', '--disable', '--repeat', '12h', '--min-signals', '10', '--recovery-hold', '0m']
    const updated = parsed<AlertBody>(await cli(['alert', 'update', alert.id, ...changes, '--json']))
    assert.deepEqual(
      [updated.name, updated.state, updated.repeat_hours, updated.min_signals, updated.recovery_hold_minutes],
      ['Them', 'disabled', 12, 10, 0],
    )
    assert.equal(updated.hold_minutes, 60, 'what is not given stays')
    const enabled = await cli(['alert', 'update', alert.id, '--enable', '--repeat', 'never', '--json'])
    assert.deepEqual([parsed<AlertBody>(enabled).state, parsed<AlertBody>(enabled).repeat_hours], ['active', null])

    const target = ['--org', org, '--name', 'Lake', '--channel', 'cloudevents', '--target', receiver.url]
    const lake = parsed<AlertBody>(await cli(['alert', 'add', ...target, '--signals', '--json']))
    assert.equal(lake.signals, true)
    for (const [option, signals] of [
      ['--hold=1h', true],
      ['--no-signals', false],
      ['--signals', true],
    ] as const) {
      assert.equal(parsed<AlertBody>(await cli(['alert', 'update', lake.id, option, '--json'])).signals, signals)
    }
    const refused = await cli(['alert', 'update', alert.id, '--signals'])
    assert.equal(refused.stderr, 'promptledger: --signals is only for the channel cloudevents\n')
    await cli(['alert', 'remove', lake.id])

    const removed = await cli(['alert', 'remove', alert.id])
    assert.equal(removed.stdout, `Removed alert ${alert.id}, Them.\n`)
    assert.match((await cli(['alert', 'list', '--org', org])).stdout, /^No alerts yet\./)
    const gone = await cli(['alert', 'test', alert.id])
    assert.deepEqual(
      [gone.code, gone.stderr],
      [1, `promptledger: There is no alert ${alert.id}. See 'promptledger alert list'.\n`],
    )
  })

  test('a test that is not accepted fails, and says what the receiver answered', async () => {
    const receiver = await startReceiver((response) => response.writeHead(500).end('out of order'))
    const { id } = await add(receiver.url)
    const { code, stdout, stderr } = await cli(['alert', 'test', id])
    assert.equal(code, 1)
    assert.match(stdout, /^Not sent: status 500 after \d+ ms\.\nout of order\n$/)
    assert.match(stderr, /^promptledger: The test was not accepted: .*500/)
  })

  test('the targets of Slack and PagerDuty come from the environment or standard input, never from arguments', async () => {
    const slack = ['alert', 'add', '--org', org, '--name', 'S', '--channel', 'slack']
    const target = 'https://hooks.slack.com/services/T0/B0/secret-part'
    const visible = await cli([...slack, '--target', target])
    assert.equal(visible.code, 1)
    assert.match(visible.stderr, /The target of slack is a secret\. Pass it with --target-env or --target-stdin/)
    const fromEnv = await cli([...slack, '--target-env', 'SLACK_URL'], { env: { SLACK_URL: target } })
    assert.match(fromEnv.stdout, /^Added alert alr_\w+, S: slack to hooks\.slack\.com\./)
    assert.ok(!fromEnv.stdout.includes('secret-part'))
    const unset = await cli([...slack, '--target-env', 'SLACK_URL'])
    assert.match(unset.stderr, /The environment variable SLACK_URL is not set/)
    const empty = await cli([...slack, '--target-stdin'], { input: '' })
    assert.match(empty.stderr, /Standard input is empty/)
    const none = await cli(slack)
    assert.match(none.stderr, /Pass the target with --target-env, --target-stdin or --target/)
    const both = await cli([...slack, '--target-env', 'X', '--target-stdin'])
    assert.equal(both.code, 2)
  })

  test('invalid options are reported by their names', async () => {
    const base = ['alert', 'add', '--org', org, '--name', 'N', '--channel', 'webhook']
    const withTarget = [...base, '--target', 'https://hooks.example/']
    const cases: [string[], RegExp, number][] = [
      [[...base, '--target', 'nonsense'], /promptledger: The target must be an https or http URL/, 1],
      [[...withTarget, '--prompts', '*a'.repeat(11)], /promptledger: --prompts must have at most 10 wildcards/, 1],
      [[...withTarget, '--repeat', '0h'], /promptledger: --repeat must be from 1 hour to 30 days/, 1],
      [[...withTarget, '--hold', '8d'], /promptledger: --hold must be from 0 minutes to 7 days/, 1],
      [[...withTarget, '--events', 'regression.dismissed'], /Allowed choices are regression\.opened/, 2],
      [[...withTarget, '--hold', 'soon'], /Must be a number and a unit/, 2],
      [['alert', 'add', '--org', '999', '--name', 'N', '--channel', 'email'], /There is no organisation 999/, 1],
    ]
    for (const [args, message, code] of cases) {
      const result = await cli(args)
      assert.equal(result.code, code, args.join(' '))
      assert.match(result.stderr, message)
    }
    const mail = await cli([...base.slice(0, -1), 'email', '--target', 'a@b.example'])
    assert.match(mail.stderr, /The target cannot be an email address: the operator has not set SMTP_URL/)
  })

  test('deliveries are listed, terminal escapes in responses are shown as text, and a failed one is retried', async () => {
    const { id } = await add('https://hooks.example/')
    const terminalEscape = String.fromCharCode(27)
    await queryRows(
      url,
      `insert into alert_deliveries (organisation_id, public_id, notice_id, alert_id, event, round, message, state, attempts, due_at,
         error, created_at, finished_at)
       select organisation_id, 'msg_${'1'.repeat(24)}', 1, id, 'limit.near', 1, '{"event":"limit.near"}', 'failed', 11, 1,
         'bad${terminalEscape}[31m', 1, 2 from alerts where public_id = '${id}'`,
    )
    const listed = await cli(['alert', 'deliveries', '--org', org, '--alert', id])
    assert.match(listed.stdout, /limit\.near .* failed .*bad\\u\{1b\}\[31m/)
    const [delivery] = parsed<AlertDeliveryBody[]>(await cli(['alert', 'deliveries', '--org', org, '--json']))
    assert.deepEqual([delivery?.alert?.id, delivery?.state], [id, 'failed'])
    const args = ['alert', 'retry', String(delivery?.id), '--org', org]
    assert.match((await cli(args)).stdout, /is pending\. The service sends it within seconds\./)
    const again = await cli(args)
    assert.deepEqual([again.code, again.stderr], [1, 'promptledger: Only a delivery that failed can be sent again.\n'])
  })
})
