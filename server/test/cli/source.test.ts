import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCli, runCliJson } from '../../../testing/cli.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { payloads } from '../../../testing/payloads/sources/index.ts'
import { queryRows } from '../../../testing/rows.ts'
import { useService } from '../../../testing/service.ts'
import { addSource } from '../../../testing/sources.ts'

onOneEngine('promptledger source', (engine) => {
  const service = useService(engine)

  test('a source is added with its secret on the first line, updated, listed and removed', async () => {
    const { organisation } = await service.tenant()
    const env = { DATABASE_URL: service.url, PROMPTLEDGER_SECRET_KEY: service.secretKey.toString('hex') }
    const org = String(organisation.id)
    const paths = ['--field', 'value=$.rating', '--field', 'id=$.id']
    const add = [
      'source',
      'add',
      '--org',
      org,
      '--name',
      'Chat',
      '--adapter',
      'webhook',
      '--prompt',
      'Support',
      ...paths,
    ]
    const { code, stdout } = await runCli(env, add)
    assert.equal(code, 0)
    const [secret = '', line = '', url = ''] = stdout.split('\n')
    assert.match(secret, /^pls_\w{43}$/)
    assert.match(line, /^Added source src_\w{24}, Chat: webhook\./)
    const [id = ''] = /src_\w{24}/.exec(url) ?? []
    const updated = await runCli(env, ['source', 'update', id, '--field', 'comment=$.text', '--midpoint', '3'])
    assert.equal(updated.code, 0, updated.stderr)
    const [listed] = (await runCliJson(service.url, ['source', 'list', '--org', org])) as Record<string, unknown>[]
    assert.partialDeepStrictEqual(listed, {
      id,
      fields: { value: '$.rating', id: '$.id', comment: '$.text' },
      midpoint: 3,
      recorded: 0,
    })
    const wrong = await runCli(env, ['source', 'update', id, '--field', 'value=$..x'])
    assert.match(wrong.stderr, /--field value must be a JSONPath of one value/)
    assert.equal((await runCli(env, ['source', 'remove', id])).code, 0)
    assert.match((await runCli(env, ['source', 'remove', id])).stderr, /There is no source/)
  })

  test('an export of any age is imported, and a second import changes nothing', async () => {
    const tenant = await service.tenant('free', 'admin')
    const { source } = await addSource(service, tenant.organisation.id, 'open-webui', { prompt: tenant.prompt.name })
    const [first, second] = payloads['open-webui'] as { data: object }[]
    const old = {
      ...second,
      data: { rating: 1, model_id: tenant.prompt.name },
      created_at: 1_600_000_000,
      updated_at: 1_600_000_000,
    }
    const named = { ...first, data: { ...first?.data, model_id: tenant.prompt.name } }
    const twins = ['a', 'b'].map((id) => `(${tenant.organisation.id}, '${id.padStart(28, 'pmt_')}', 'twin', 1)`)
    await queryRows(service.url, `insert into prompts (organisation_id, public_id, name, created_at) values ${twins}`)
    // A name that no prompt has, and one that two have, as older versions allowed.
    const unclear = ['nothing', 'twin'].map((model_id) => ({ ...first, data: { rating: 1, model_id } }))
    const file = JSON.stringify([...unclear, named, old])
    const env = { DATABASE_URL: service.url, PROMPTLEDGER_SECRET_KEY: service.secretKey.toString('hex') }
    const run = async () =>
      JSON.parse((await runCli(env, ['--json', 'import', 'feedback', source.publicId], file)).stdout)
    assert.deepEqual(await run(), { imported: 2, replaced: 0, ignored: 0, rejected: 2 })
    assert.deepEqual(await run(), { imported: 0, replaced: 2, ignored: 0, rejected: 2 })
    const { signals } = await service.store.signals.page(
      tenant.prompt,
      { value: null, since: null, until: null },
      { page: '1', limit: 10 },
    )
    assert.deepEqual(
      signals.map(({ value, occurredAt }) => [value, occurredAt]),
      [
        ['negative', 1_794_735_600_000],
        ['positive', 1_600_000_000_000],
      ],
    )
  })

  test('a product that generates the secret gets it from an environment variable', async () => {
    const { organisation } = await service.tenant()
    const env = { DATABASE_URL: service.url, PROMPTLEDGER_SECRET_KEY: service.secretKey.toString('hex') }
    const add = [
      'source',
      'add',
      '--org',
      String(organisation.id),
      '--name',
      'Bot',
      '--adapter',
      'slack',
      '--prompt',
      'P',
    ]
    const { stdout } = await runCli(env, add)
    const [id = ''] = /src_\w{24}/.exec(stdout) ?? []
    assert.match(stdout, /Set the secret that slack shows with 'promptledger source update/)
    await runCli({ ...env, SLACK: 'signing' }, ['source', 'update', id, '--secret-env', 'SLACK'])
    assert.notEqual((await service.store.sources.findInAnyOrganisation(id))?.sealedSecret, null)
  })
})
