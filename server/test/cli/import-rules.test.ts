import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { onTestEnd } from '../../../testing/cleanup.ts'
import { type ArchiveEdit, writeEditedArchive } from '../../../testing/edited-archive.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { archivedRows } from '../../../testing/filled-database.ts'
import { queryRows } from '../../../testing/rows.ts'
import { openTestStore } from '../../../testing/service.ts'
import { importOrganisation } from '../../src/archive/restore.ts'
import { readConfig } from '../../src/config.ts'
import { assertRejected, json, newDatabase, newFile, settings, sourceOn } from './archive-source.ts'

/** The export with these edits. */
function edited(file: string, ...edits: ArchiveEdit[]): string {
  return writeEditedArchive(file, newFile(), edits)
}

const sql = `x'); --`
const hostile: [ArchiveEdit, RegExp][] = [
  [['organisations', 'name', 'Acme\u001b]0;pwned\u0007'], /name must not contain control characters/],
  [['alert_deliveries', 'message', '{"organisation":null,"at":1}'], /message must be the message of an alert/],
  [['organisations', 'plan', 'unlimited'], /plan must be one of free, team, business/],
  [['api_keys', 'name', 'ci\u009b31m'], /name must not contain control characters/],
  [['api_keys', 'role', 'root'], /role must be one of/],
  [['api_keys', 'prompts', '*'.repeat(23)], /prompts must have at most 10 wildcards/],
  [['api_keys', 'prompts', ''], /prompts must not be empty/],
  [['api_keys', 'prompts', `a\u001b[2J`], /prompts must not contain control characters/],
  [['api_keys', 'hash', 'x'], /hash must be a SHA-256 hash/],
  [['repositories', 'url', 'ext::sh -c id'], /url must be an https/],
  [['repositories', 'url', '--upload-pack=id'], /url must be an https/],
  [['repositories', 'path', '../../etc/*'], /path must be relative/],
  [['repositories', 'forge', 'sourcehut'], /forge must be one of/],
  [['repositories', 'hook_id', '../healthz'], /hook_id must be 24 letters/],
  [['repositories', 'default_branch', '--exec=id'], /default_branch must be a branch name/],
  [['repositories', 'default_branch', 'main:refs/heads/x'], /default_branch must be a branch name/],
  [['repositories', 'tip', '--output=/tmp/x'], /tip must be a git hash/],
  [['repositories', 'web_url', 'javascript:alert(1)'], /web_url must be an http or https URL/],
  [['repositories', 'sealed_token', 'ghp_plain'], /sealed_token must be an encrypted value/],
  [['repositories', 'ssh_host_key', 'ssh-ed25519 x\n* ssh-ed25519 y'], /sshHostKey must be a public key/],
  [['repositories', 'ssh_public_key', 'ssh-ed25519 x'], /sshHostKey must be a public key/],
  [['repositories', 'sealed_ssh_key', '-----BEGIN'], /sealed_ssh_key must be an encrypted value/],
  [['repositories', 'ssh_host_key', null], /ssh_host_key must accompany the deploy key/],
  [['repositories', 'connected_by_operator', 2], /connected_by_operator must be 0 or 1/],
  [['prompts', 'public_id', 'pmt_1'], /public_id must be pmt_/],
  [['prompts', 'name', 'a\nb'], /name must not contain control characters/],
  [['alerts', 'public_id', 'alr_1'], /public_id must be alr_/],
  [['alerts', 'channel', 'sms'], /channel must be one of/],
  [['sources', 'adapter', 'fax'], /adapter must be one of/],
  [['sources', 'settings', '{"fields":{"value":"$..x"}}'], /settings must be the settings of a source/],
  [['alerts', 'sealed_target', 'http://169.254.169.254/'], /sealed_target must be an encrypted value/],
  [['alerts', 'prompts', '*'.repeat(23)], /prompts must have at most 10 wildcards/],
  [['alerts', 'events', '["everything"]'], /events must be a JSON array of events/],
  [['alerts', 'signals', 2], /signals must be 0 or 1/],
  [['signal_events', 'kind', 'sold'], /kind must be one of/],
  [['signal_events', 'event_id', '"'], /event_id must be evt_/],
  [['notices', 'kind', 'party'], /kind must be one of/],
  [['alert_deliveries', 'event', 'alert.test'], /event must be one of/],
  [['alert_deliveries', 'message', '[]'], /message must be the message of an alert/],
  [['alert_deliveries', 'state', 'lost'], /state must be one of/],
  [['history_entries', 'before_blob', '--batch'], /before_blob must be a git hash/],
  [['history_entries', 'pr_url', 'javascript:alert(1)'], /pr_url must be an http or https URL/],
  [['history_entries', 'action', sql], /action must be one of/],
  [['history_entries', 'too_large', 7], /too_large must be 0 or 1/],
  [['history_entries', 'hidden_characters', 3], /hidden_characters must be the result of a check/],
  [['edits', 'too_large', -1], /too_large must be 0 or 1/],
  [['edits', 'new_blob', 'HEAD:../x'], /new_blob must be a git hash/],
  [['pulls', 'document', '[null]'], /document\.url is invalid|document is invalid/],
  [['pulls', 'document', '{'], /document must be a JSON object/],
  [['deliveries', 'state', 'later'], /state must be one of/],
  [['audit', 'action', 'nothing.happened'], /action must be one of/],
  [['audit', 'subject_id', '__proto__'], /subject_id must be the ID of a resource/],
  [['audit', 'details', '{"role":{"toString":1}}'], /details must be a JSON object of texts and numbers/],
  [['audit', 'seq', 0], /seq must be at least 1/],
  [['audit', 'hash', 'f'.repeat(63)], /hash must be a SHA-256 hash/],
  [['audit_heads', 'hash', 'none'], /hash must be a SHA-256 hash/],
  [['signal_usage', 'used', -1_000_000], /used is out of range/],
  [['signal_hours', 'positive', -1], /positive is out of range/],
  [['idempotency_keys', 'key', 'a b'], /key must be 1 to 255/],
  [['signals', 'value', 'maybe'], /value must be one of/],
  [['signals', 'metadata', '[1]'], /metadata must be a JSON object/],
  [['signals', 'metadata', `{"a":"${'x'.repeat(20_000)}"}`], /metadata must be at most 16384 bytes/],
  [['signals', 'created_at', -1], /created_at is out of range/],
]

onOneEngine('An edited export', (engine) => {
  test('a row that the service would not have stored is rejected with its table and number, and nothing is imported', async () => {
    const { service, exported } = sourceOn(engine)
    const database = await newDatabase(engine)
    const config = readConfig(settings(database.url, service.secretKey))
    const store = await openTestStore(database.url)
    onTestEnd(() => store.close())
    const options = { oldKey: null, leaveUnreadable: true, plan: 'free' } as const
    for (const [edit, message] of hostile) {
      const file = edited(exported, edit)
      const place = new RegExp(`Row \\d+ of ${edit[0]} in \\S+ is invalid: ${message.source}.* Nothing was changed`)
      await assert.rejects(
        importOrganisation(store, config, file, options, () => () => {}),
        { message: place },
      )
    }
    assert.deepEqual((await archivedRows(database.url)).organisations, [])
  })

  test('a key with the role admin that is limited to prompts is rejected', async () => {
    const { service, exported } = sourceOn(engine)
    const database = await newDatabase(engine)
    const limited = edited(exported, ['api_keys', 'role', 'admin', 0], ['api_keys', 'prompts', 'a/**', 0])
    await assertRejected(
      settings(database.url, service.secretKey),
      ['import', 'organisation', limited],
      /Row \d+ of api_keys .+ prompts cannot limit the role admin/,
    )
  })

  test('an alert of another channel than cloudevents that gets signals is rejected', async () => {
    const { service, exported } = sourceOn(engine)
    const database = await newDatabase(engine)
    const sending = edited(exported, ['alerts', 'channel', 'webhook', 0], ['alerts', 'signals', 1, 0])
    await assertRejected(
      settings(database.url, service.secretKey),
      ['import', 'organisation', sending],
      /Row \d+ of alerts .+ signals must be 0 unless the channel is cloudevents/,
    )
  })

  test('an audit log with a changed, missing or cut off entry is rejected, and nothing is imported', async () => {
    const { service, exported } = sourceOn(engine)
    const database = await newDatabase(engine)
    const config = readConfig(settings(database.url, service.secretKey))
    const store = await openTestStore(database.url)
    onTestEnd(() => store.close())
    const options = { oldKey: null, leaveUnreadable: true, plan: 'free' } as const
    const rejected: [ArchiveEdit, RegExp][] = [
      [['audit', 'subject_name', 'forged'], /entry \d+ does not match its hash/],
      [['audit', 'at', 1], /entry \d+ does not match its hash/],
      [['audit', 'seq', 9_999], /entry \d+ is missing/],
      [['audit_heads', 'entries', 9_999], /entry \d+ to 9999 are missing at the end/],
      [['audit_heads', 'hash', 'f'.repeat(64)], /entry \d+ is not the one that was written last/],
    ]
    for (const [edit, message] of rejected) {
      await assert.rejects(
        importOrganisation(store, config, edited(exported, edit), options, () => () => {}),
        { message: new RegExp(`${message.source}.*Nothing was imported`) },
      )
    }
    assert.deepEqual((await archivedRows(database.url)).organisations, [])
  })

  test('a folder on this machine as URL is rejected unless the settings allow it', async () => {
    const { service, exported } = sourceOn(engine)
    const database = await newDatabase(engine)
    const env = { ...settings(database.url, service.secretKey), ALLOW: '' }
    await assertRejected(env, ['import', 'organisation', exported], /Row 1 of repositories .+ ALLOW=local-repositories/)
    const remote = edited(exported, ['repositories', 'url', 'https://forge.example/acme.git'])
    await json(env, ['import', 'organisation', remote])
  })

  test('the plan is the one that the operator chooses, free by default, and repositories get no rights of the operator', async () => {
    const { service, exported } = sourceOn(engine)
    const file = edited(exported, ['organisations', 'plan', 'business'], ['repositories', 'connected_by_operator', 1])
    const expected: [string[], string][] = [
      [[], 'free'],
      [['--plan', 'team'], 'team'],
      [['--keep-plan'], 'business'],
    ]
    for (const [options, plan] of expected) {
      const database = await newDatabase(engine)
      await json(settings(database.url, service.secretKey), ['import', 'organisation', file, ...options])
      const [organisation] = await queryRows(database.url, 'select plan from organisations')
      assert.equal(organisation?.plan, plan)
      const rows = await queryRows(database.url, 'select connected_by_operator from repositories')
      assert.deepEqual(
        rows.map(({ connected_by_operator }) => Number(connected_by_operator)),
        [0],
      )
    }
  })

  test('a secret copied from another repository is not accepted', async () => {
    const { service, exported } = sourceOn(engine)
    const database = await newDatabase(engine)
    const stolen = service.syncContext.vault.encrypt('theirs', {
      hookId: randomBytes(12).toString('hex'),
      kind: 'token',
    })
    const file = edited(exported, ['repositories', 'sealed_token', stolen])
    const message = /The secrets of 1 repository were encrypted with another secret key/
    await assertRejected(settings(database.url, service.secretKey), ['import', 'organisation', file], message)
  })
})
