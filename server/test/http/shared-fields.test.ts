import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operations } from '../../../contract/index.ts'
import { type ResponseSchema, type Schema, shared, verbatim } from '../../../contract/operation.ts'
import { assertMatchesSchema } from '../../../testing/assertions.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { fillDatabase } from '../../../testing/filled-database.ts'
import { queryEach } from '../../../testing/rows.ts'
import { useService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { createShare } from '../../src/domain/access/share.ts'
import { visible } from '../../src/http/shares/visible.ts'

const readable = operations.filter((operation) => operation.shared !== undefined)

/** Every member of a response, at any depth, that a link does not show. */
function leftOut({ properties, items, anyOf, ...schema }: Schema): string[] {
  const shown = [...(schema[shared] ?? []), ...(schema[verbatim] ?? [])]
  const members = Object.entries(properties ?? {}).flatMap(([name, property]) =>
    shown.includes(name) ? leftOut(property) : [name],
  )
  return [...members, ...(items === undefined ? [] : leftOut(items)), ...(anyOf ?? []).flatMap(leftOut)]
}

test('a share link leaves out exactly these members, and a new one is decided about here', () => {
  const names = new Set(readable.flatMap(({ response }) => leftOut(response[200] as Schema)))
  const personal = ['acknowledged_by', 'dismissed_by', 'email', 'key_id', 'note', 'owner', 'proposal', 'steps', 'told']
  assert.deepEqual([...names].sort(), personal)
})

test('a member that no schema allows is not shown, at any depth', () => {
  const entry = operations.find(({ id }) => id === 'getHistoryEntry')?.response[200] as ResponseSchema
  const data = { id: 1, user: { name: 'Ada', email: 'a', phone: '1' }, reviewer: 'Bob', hidden_characters: { a: 1 } }
  assert.deepEqual(visible(entry, { data, secret: 's' }), {
    data: { id: 1, user: { name: 'Ada', email: '' }, hidden_characters: {} },
  })
  assert.deepEqual(visible({}, { data }), {})
})

test('texts of people are shown without addresses, however they are written', () => {
  const texts: [string, string][] = [
    ['By <ada@localhost> and Bob <"b b"@x.example>', 'By <> and Bob <>'],
    ['ask ada@leak.example, bob＠leak.example or mailto:eve@leak.example', 'ask   or '],
    ['Bump lodash@4.17.21 and @types/node, ping @ada', 'Bump lodash@4.17.21 and @types/node, ping @ada'],
  ]
  for (const [text, expected] of texts) assert.equal(visible({}, text), expected)
})

test('a text takes time in proportion to its length, whatever its author wrote', () => {
  for (const part of ['a', '@', '<', '<a', 'a@', '@.', '.a', '<@']) {
    const startedAt = performance.now()
    visible({}, `${part.repeat(30_000 / part.length)}>`)
    assert.ok(performance.now() - startedAt < 1_000, part)
  }
})

onOneEngine('What a share link shows', (engine) => {
  const service = useService(engine)

  test('no operation that it may call shows an address, a note, a comment, a key or who was told', async () => {
    const { scenario } = await fillDatabase(service)
    const { tenant, repository } = scenario
    const { prompt } = tenant
    const [regression] = (await service.store.regressions.ofPrompt(prompt)).filter(({ state }) => state === 'open')
    const address = 'ada@leak.example'
    const person = `'Ada ${address}'`
    await queryEach(service.url, [
      `update history_entries set user_name = ${person}, user_email = '${address}', actor = ${person}, branch_name = '${address}',
         message = 'Ask ${address}\n\nCo-authored-by: Ada <${address}>\nx: (${address})', key_id = 4711`,
      `update regressions set key_name = ${person}, note = 'leak.example note', owner = 'owner@leakhost', acknowledged_by = ${person},
         explanation = 'For ${address}'`,
      `update shift_triage set key_name = ${person}, note = 'leak.example note', owner = 'owner@leakhost', acknowledged_by = ${person}`,
      `update regression_steps set key_name = ${person}, text = 'leak.example comment'`,
      `update proposals set proposed_by = ${person}, branch = 'leak.example'`,
      `update alerts set name = ${person}`,
      `update repositories set web_url = 'https://${address}/x' where id = ${repository.id}`,
      `update signals set comment = 'comment.example', subject = 'comment.example', voter = 'comment.example'`,
    ])
    const by = { keyId: (await service.store.keys.list(tenant.organisation.id))[0]?.id as number }
    const read = async (includesSignals: boolean) => {
      const terms = { prompt, regressionId: null, includesSignals, expiresAt: null }
      const { token } = await createShare(service.store.shares, terms, service.now, by)
      const headers = { authorization: `Bearer ${token}` }
      const entryId = (await tenant.history()).json().data[0].id
      const bodies: Record<string, string> = {}
      for (const { id, path, response } of readable) {
        const url = path
          .replace(':prompt_id', prompt.publicId)
          .replace(':entry_id', entryId)
          .replace(':regression_id', String(regression?.id))
        const answer = await service.app.inject({ url: `${url}?model_changes=true`, headers })
        if (answer.statusCode === 403 && !includesSignals) continue
        assert.equal(answer.statusCode, 200, `${id} ${answer.body}`)
        assertMatchesSchema(response[200] as object, answer)
        assert.doesNotMatch(answer.body, /leak\.example|leakhost|4711/, id)
        bodies[id] = answer.body
      }
      bodies.shared = (await service.app.inject({ url: '/api/v1/shared', headers })).body
      return bodies
    }
    const without = await read(false)
    for (const [id, body] of Object.entries(without)) assert.doesNotMatch(body, /comment\.example/, id)
    assert.match(String(without.getHistoryEntry), /"name":"Ada "/)
    assert.match(String(without.shared), /"includes_signals":false/)
    assert.match(String((await read(true)).listSignals), /comment\.example/)
    await service.store.prompts.delete(prompt, service.now, operator)
  })
})
