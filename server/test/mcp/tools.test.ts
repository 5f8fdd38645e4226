import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Client } from '@modelcontextprotocol/client'
import { onOneEngine } from '../../../testing/engines.ts'
import { figures } from '../../../testing/regressions.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { newHistoryEntry } from '../../src/domain/history/entry.ts'
import { newPrompt, type Prompt } from '../../src/domain/prompt.ts'
import { callTool, connectAgent, failedCall } from './shop.ts'

const maxDefinitionTokens = 2_500
// English text and JSON have more characters per token on average, so this is an upper bound.
const charactersPerToken = 3

interface Page {
  total: number
  next_cursor: string | null
  prompts: { quoted_name: string }[]
  changes: { change: number; commit: string; effect: unknown }[]
}

interface Feedback {
  all_votes?: { positive: number; negative: number; rate: number | null }
  comments: { vote: string; quoted_comment: string }[]
  complete: boolean
  next_cursor: string | null
}

onOneEngine('The tools for agents', (engine) => {
  const service = useService(engine)
  let tenant: Tenant
  let client: Client
  before(async () => {
    tenant = await service.tenant('team', 'reader')
    const address = await service.app.listen({ port: 0, host: '127.0.0.1' })
    client = await connectAgent(address, tenant.key)
  })

  const call = <T>(name: string, args: Record<string, unknown> = {}) => callTool<T>(client, name, args)
  const fail = (name: string, args: Record<string, unknown>) => failedCall(client, name, args)

  function createPrompt(name: string): Promise<Prompt> {
    return service.store.prompts.create(newPrompt(tenant.organisation.id, name, service.now), operator)
  }

  function recordChange(prompt: Prompt, daysAgo: number, prNumber: number | null = null) {
    const createdAt = service.now - daysAgo * 86_400_000
    return service.store.history.record(
      prompt,
      newHistoryEntry({
        action: prNumber === null ? 'deployed' : 'pr_merged',
        user: { name: 'Ada Lovelace', email: 'ada@example.com' },
        commitSha: daysAgo.toString(16).padStart(8, 'a').padEnd(40, '0'),
        prNumber,
        prUrl: prNumber === null ? null : `https://github.com/acme/prompts/pull/${prNumber}`,
        branchName: 'main',
        createdAt,
      }),
      createdAt,
      operator,
    )
  }

  /** Follows the cursors to the end. */
  async function allPages<T extends { next_cursor: string | null }>(
    name: string,
    args: Record<string, unknown>,
  ): Promise<T[]> {
    const pages = [await call<T>(name, args)]
    for (let cursor = pages[0]?.next_cursor ?? null; cursor !== null; ) {
      const page = await call<T>(name, { ...args, cursor })
      pages.push(page)
      cursor = page.next_cursor
    }
    return pages
  }

  test('a tool that writes is listed, and works, only for keys that may write', async () => {
    const names = async (agent: Client) => (await agent.listTools()).tools.map(({ name }) => name)
    const forReaders = await names(client)
    assert.ok(!forReaders.includes('propose_revert') && !forReaders.includes('triage_regression'))
    await assert.rejects(
      client.callTool({ name: 'propose_revert', arguments: { change: '1' } }),
      /no tool of this name/,
    )
    const address = service.app.listeningOrigin
    const writer = await connectAgent(address, await service.key(tenant.organisation, 'standard'))
    const { tools } = await writer.listTools()
    const tool = tools.find(({ name }) => name === 'propose_revert')
    assert.deepEqual(tool?.annotations, { readOnlyHint: false, destructiveHint: false, idempotentHint: true })
    const prompt = await createPrompt('prompts/kept.md')
    const { id, commitSha } = await recordChange(prompt, 3)
    const change = String(id)
    assert.match((await failedCall(writer, 'propose_revert', { change })).message, /no regression/)

    await service.store.regressions.open(prompt, { id, commitSha }, figures, service.now)
    const triaged = await callTool<object>(writer, 'triage_regression', {
      ...{ change, owner: 'grace@example.com', acknowledged: 'yes', snoozed_until: '2026-12-01' },
      comment: 'Looking into it.',
    })
    assert.partialDeepStrictEqual(triaged, {
      ...{ quoted_owner: 'grace@example.com', snoozed_until: '2026-12-01T00:00:00.000Z', comment: 'added' },
    })
    const [regression] = await service.store.regressions.ofPrompt(prompt)
    const steps = await service.store.regressions.steps(tenant.organisation.id, regression?.id as number)
    assert.deepEqual(
      steps.map(({ action }) => action),
      ['owner', 'acknowledged', 'snoozed', 'comment'],
    )
    const at = service.now - 3_600_000
    const fall = { at, between: [at, at] as [number, number], rateBefore: 0.9, rateAfter: 0.6, foundAt: service.now }
    await service.store.shifts.replace(prompt, [{ ...fall, entryId: null, sharedWith: null, candidates: null }])
    const listed = await callTool<{ unexplained_falls: { id: string }[] }>(writer, 'open_regressions', {
      prompt: prompt.publicId,
    })
    const ofShift = { change: listed.unexplained_falls[0]?.id, owner: 'grace@example.com' }
    assert.match((await failedCall(writer, 'triage_regression', ofShift)).message, /prompt is required/)
    assert.partialDeepStrictEqual(
      await callTool<object>(writer, 'triage_regression', { ...ofShift, prompt: prompt.publicId }),
      { quoted_owner: 'grace@example.com' },
    )
    const unknown = { ...ofShift, change: `shf_${'0'.repeat(24)}`, prompt: prompt.publicId }
    assert.match((await failedCall(writer, 'triage_regression', unknown)).message, /no such fall/)
    assert.match((await failedCall(writer, 'triage_regression', { change })).message, /at least one of/)
    assert.match((await failedCall(writer, 'triage_regression', { change, owner: 'grace' })).message, /email address/)
  })

  test('definitions and instructions take less than 2,500 tokens, and every tool says that it only reads', async () => {
    const { tools } = await client.listTools()
    const text = JSON.stringify(tools) + client.getInstructions()
    assert.ok(text.length / charactersPerToken < maxDefinitionTokens, `${text.length} characters`)
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['find_prompts', 'what_happened', 'explain_change', 'live_at', 'open_regressions', 'read_feedback'],
    )
    for (const { annotations } of tools) assert.equal(annotations?.readOnlyHint, true)
  })

  test('cursors lead through all prompts and all changes, each once', async () => {
    for (let i = 0; i < 45; i++) await createPrompt(`many/${String(i).padStart(2, '0')}.md`)
    const pages = await allPages<Page>('find_prompts', { query: 'many/' })
    const names = pages.flatMap(({ prompts }) => prompts.map((prompt) => prompt.quoted_name))
    assert.deepEqual([pages.length, pages[0]?.total, names.length, new Set(names).size], [3, 45, 45, 45])

    const prompt = await createPrompt('changed-often')
    for (let i = 0; i < 30; i++) await recordChange(prompt, i + 1)
    const history = await allPages<Page>('what_happened', { prompt: 'changed-often' })
    const changes = history.flatMap((page) => page.changes.map(({ change }) => change))
    assert.deepEqual([history.length, history[0]?.total, new Set(changes).size], [2, 30, 30])
    const [week] = await allPages<Page>('what_happened', {
      prompt: 'changed-often',
      since: '2026-11-08',
      until: '2026-11-10',
    })
    assert.equal(week?.total, 2, 'until is exclusive, and a date is its start')
  })

  test('a prompt goes by ID, name, or a part that only one has; otherwise the candidates are listed', async () => {
    const one = await createPrompt('guide/returns-abroad.md')
    const two = await createPrompt('guide/returns-at-home.md')
    for (const reference of [one.publicId, one.name, 'RETURNS-ABROAD']) {
      assert.equal((await call<{ prompt: string }>('what_happened', { prompt: reference })).prompt, one.publicId)
    }
    const { error, message, prompts } = await fail('what_happened', { prompt: 'returns' })
    assert.deepEqual([error, message], ['validation_error', '2 prompts match. Pass the ID of the one you mean.'])
    assert.deepEqual(
      prompts?.map(({ prompt }) => prompt),
      [one.publicId, two.publicId],
    )
    assert.match((await fail('what_happened', { prompt: 'no-such-prompt' })).message, /find_prompts lists them/)
  })

  test('a change goes by its number, or with the prompt by commit or pull request', async () => {
    const prompt = await createPrompt('one-change')
    const entry = await recordChange(prompt, 3, 42)
    const other = await recordChange(await createPrompt('another-change'), 3, 42)
    for (const args of [
      { change: String(entry.id) },
      { change: entry.id },
      { change: '#42', prompt: 'one-change' },
      { change: entry.commitSha.slice(0, 7).toUpperCase(), prompt: 'one-change' },
    ]) {
      const found = await call<{ change: number; pull_request: number }>('explain_change', args)
      assert.deepEqual([found.change, found.pull_request], [entry.id, 42])
    }
    assert.match((await fail('explain_change', { change: '#42' })).message, /prompt is required/)
    assert.match(
      (await fail('explain_change', { change: 'the last one' })).message,
      /number of a change, a commit hash/,
    )
    assert.equal((await fail('explain_change', { change: '#43', prompt: 'one-change' })).error, 'not_found')
    assert.equal((await fail('explain_change', { change: other.id, prompt: 'one-change' })).error, 'not_found')
    assert.match((await fail('explain_change', { change: entry.id, by: 'model' })).message, /no keys .* are declared/)
  })

  test('a change without texts in git says so instead of showing an empty diff', async () => {
    const entry = await recordChange(await createPrompt('told-by-api'), 2)
    const found = await call<{ quoted_diff: null; texts: object }>('explain_change', { change: entry.id })
    assert.deepEqual([found.quoted_diff, found.texts], [null, { before: 'unavailable', after: 'unavailable' }])
  })

  test('before the first change, live_at says that nothing was live', async () => {
    await recordChange(await createPrompt('young'), 2)
    const { error, message } = await fail('live_at', { prompt: 'young', at: '2026-01-01' })
    assert.equal(error, 'not_found')
    assert.match(message, /No version was live at 2026-01-01T00:00:00.000Z/)
    const { live } = await call<{ live: { live_from: string; live_until: null } }>('live_at', { prompt: 'young' })
    assert.deepEqual([live.live_from, live.live_until], ['2026-11-13T12:00:00.000Z', null])
  })

  test('read_feedback counts all votes and returns the comments that match, page by page', async () => {
    const prompt = await createPrompt('voted')
    const earlier = await recordChange(prompt, 20)
    const later = await recordChange(prompt, 10)
    async function* votes() {
      yield Array.from({ length: 120 }, (_, i) => ({
        organisationId: prompt.organisationId,
        promptId: prompt.id,
        value: i % 4 === 0 ? ('negative' as const) : ('positive' as const),
        metadata: JSON.stringify({ locale: i % 2 === 0 ? 'de' : 'en' }),
        createdAt: service.now - (i < 60 ? 15 : 5) * 86_400_000 + i * 1_000,
        details: {
          version: null,
          subject: null,
          voter: null,
          comment: i % 2 === 0 ? `comment ${i}` : null,
          occurredAt: null,
          traceId: null,
        },
      }))
    }
    await service.store.signals.import(votes())

    const pages = await allPages<Feedback>('read_feedback', { prompt: 'voted' })
    const comments = pages.flatMap((page) => page.comments.map((comment) => comment.quoted_comment))
    assert.deepEqual([comments.length, new Set(comments).size, comments[0]], [60, 60, 'comment 118'])
    assert.deepEqual(pages[0]?.all_votes, { positive: 90, negative: 30, rate: 0.75 })
    assert.deepEqual([pages[0]?.complete, pages.at(-1)?.complete, pages[1]?.all_votes], [false, true, undefined])

    const after = await call<Feedback>('read_feedback', { change: String(later.id), vote: 'negative' })
    assert.deepEqual(after.all_votes, { positive: 45, negative: 15, rate: 0.75 })
    assert.deepEqual([after.comments.length, after.comments.at(-1)?.quoted_comment], [15, 'comment 60'])
    const sides = await call<Feedback>('read_feedback', {
      change: String(later.id),
      side: 'before',
      text: 'COMMENT 58',
    })
    assert.deepEqual(
      sides.comments.map((comment) => comment.quoted_comment),
      ['comment 58'],
    )
    assert.equal((await call<Feedback>('read_feedback', { change: String(earlier.id) })).all_votes?.positive, 45)
    assert.equal(
      (await call<Feedback>('read_feedback', { prompt: 'voted', where: { locale: 'en' } })).comments.length,
      0,
    )
    assert.match((await fail('read_feedback', {})).message, /prompt is required if change is not given/)
  })

  test('text that a database cannot store matches nothing', async () => {
    const odd = 'a\0\ud800'
    assert.equal((await call<Page>('find_prompts', { query: odd })).total, 0)
    assert.equal((await fail('what_happened', { prompt: odd })).error, 'not_found')
    const feedback = await call<Feedback>('read_feedback', { prompt: 'prompts/a.md', text: odd, where: { [odd]: odd } })
    assert.deepEqual(feedback.comments, [])
  })

  test('null, empty text and numbers are understood; other mistakes say what to change', async () => {
    await call('find_prompts', { query: null, cursor: '', sort: 'name' })
    const cases: [string, Record<string, unknown>, RegExp][] = [
      ['what_happened', {}, /prompt is required/],
      ['what_happened', { prompt: '' }, /prompt is required/],
      ['find_prompts', { sort: 'best' }, /sort must be "name", "newest_change"/],
      ['find_prompts', { limit: 5 }, /Its arguments: query, sort, cursor/],
      ['find_prompts', { cursor: 'abc' }, /cursor must be the next_cursor/],
      ['find_prompts', { query: ['a'] }, /query must be a string/],
      ['live_at', { prompt: 'prompts/a.md', at: 'yesterday' }, /at must be an ISO 8601 time/],
      ['what_happened', { prompt: 'prompts/a.md', since: '2026-02-30' }, /since must be an ISO 8601 time/],
      ['what_happened', { prompt: 'prompts/a.md', since: '2026-03-02', until: '2026-03-01' }, /later than since/],
      ['read_feedback', { prompt: 'prompts/a.md', where: { a: 1 } }, /where.a must be a string/],
      ['read_feedback', { prompt: 'prompts/a.md', text: 'x'.repeat(201) }, /text must NOT have more than 200/],
      ['read_feedback', { prompt: 'prompts/a.md', cursor: 'x' }, /cursor must be/],
    ]
    for (const [tool, args, expected] of cases) {
      const { error, message } = await fail(tool, args)
      assert.equal(error, 'validation_error')
      assert.match(message, expected)
    }
  })
})
