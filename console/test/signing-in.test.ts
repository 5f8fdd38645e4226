import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newSecret } from '../../server/src/domain/access/api-key.ts'
import { operator } from '../../server/src/domain/access/audit.ts'
import { newPrompt } from '../../server/src/domain/prompt.ts'
import { eventually } from '../../testing/eventually.ts'
import type { Tenant } from '../../testing/service.ts'
import { inBrowser } from './browser.ts'
import type { Visit } from './visit.ts'

inBrowser('Signing in', (surroundings) => {
  const { service } = surroundings

  for (const role of ['standard', 'admin'] as const) {
    test(`takes a key of the role ${role}, and keeps it nowhere in the page`, async (t) => {
      const { key } = await service.tenant('free', role)
      const visitor = await surroundings.visit(t, { key })
      await visitor.page.getByRole('heading', { name: 'Prompts' }).waitFor()
      assert.equal(visitor.place, '/prompts')
      const kept = await keptIn(visitor)
      for (const part of [key, key.slice(4, 24)]) assert.ok(!kept.includes(part), `the page has kept ${part}`)
      const cookies = await visitor.page.context().cookies()
      assert.deepEqual(
        cookies.map(({ name, httpOnly, sameSite }) => ({ name, httpOnly, sameSite })),
        [{ name: 'promptledger_session', httpOnly: true, sameSite: 'Strict' }],
      )
    })
  }

  test('shows keys and repositories to admins alone', async (t) => {
    const { organisation, key } = await service.tenant('free', 'standard')
    const standard = await surroundings.visit(t, { key })
    const links = (visitor: Visit) => visitor.page.getByRole('navigation', { name: 'Pages' }).getByRole('link')
    await links(standard).first().waitFor()
    assert.deepEqual(await links(standard).allTextContents(), ['Prompts', 'Usage'])
    for (const path of ['/keys', '/repositories', '/repositories/1']) {
      await standard.open(path)
      await standard.page.getByRole('heading', { name: 'There is nothing here' }).waitFor()
    }
    const admin = await surroundings.visit(t, { key: await service.key(organisation, 'admin') })
    await links(admin).first().waitFor()
    assert.deepEqual(await links(admin).allTextContents(), ['Prompts', 'Usage', 'Repositories', 'Keys'])
  })

  test('says why a key is refused, and lets one try again', async (t) => {
    const { organisation, key } = await service.tenant()
    const visitor = await surroundings.visit(t)
    visitor.expect('401 POST /api/v1/session', '403 POST /api/v1/session')
    const alert = visitor.page.getByRole('alert')
    for (const wrong of [newSecret(), 'a mistyped one']) {
      await visitor.submit(wrong)
      await eventually(async () => {
        assert.deepEqual(await alert.allTextContents(), ['This key is unknown, revoked or expired.'])
      })
      await visitor.open('/')
    }
    await visitor.submit(await service.key(organisation, 'ingest'))
    await eventually(async () => {
      const words = 'This key may only record signals: take one of the role standard or admin.'
      assert.deepEqual(await alert.allTextContents(), [words])
    })
    await visitor.signIn(` ${key} `)
    await visitor.page.getByRole('heading', { name: 'Prompts' }).waitFor()
  })

  test('brings one to the address that was asked for', async (t) => {
    const { key, prompt } = await service.tenant()
    const place = `/prompts/${prompt.publicId}?range=month&action=deployed`
    const visitor = await surroundings.visit(t, { at: place, key })
    await visitor.page.getByRole('heading', { name: prompt.name }).waitFor()
    assert.equal(visitor.place, place)
  })

  test('ends with signing out, which leaves nothing of the organisation in the page', async (t) => {
    const { key, prompt } = await service.tenant()
    const visitor = await surroundings.visit(t, { key })
    await visitor.page.getByRole('link', { name: prompt.name }).waitFor()
    await visitor.page.getByRole('button', { name: 'Sign out' }).click()
    await visitor.page.getByLabel('API key').waitFor()
    assert.ok(!(await keptIn(visitor)).includes(prompt.name))
    assert.deepEqual(await visitor.page.context().cookies(), [])
    await visitor.page.reload()
    await visitor.page.getByLabel('API key').waitFor()
  })

  test('shows nothing of the organisation that was signed in before', async (t) => {
    const [before, after] = [await service.tenant(), await service.tenant()]
    const another = newPrompt(after.organisation.id, 'prompts/of-another.md', service.now)
    await service.store.prompts.create(another, operator)
    const visitor = await surroundings.visit(t, { key: before.key })
    await visitor.page.getByRole('link', { name: before.prompt.name }).waitFor()
    await revokeAll(before)
    visitor.expect('401 GET /api/v1/prompts', '401 GET /api/v1/usage')
    await visitor.page.getByRole('link', { name: 'Usage' }).click()
    await visitor.page.getByLabel('API key').waitFor()
    await visitor.signIn(after.key)
    await visitor.page.getByRole('link', { name: 'Prompts', exact: true }).click()
    await visitor.page.getByRole('link', { name: another.name }).waitFor()
  })

  test('is asked for again when the key is revoked, and then the same view is there', async (t) => {
    const tenant = await service.tenant()
    const { organisation, key, prompt } = tenant
    const visitor = await surroundings.visit(t, { at: `/prompts/${prompt.publicId}`, key })
    const thisMonth = visitor.page.getByRole('button', { name: '30 days' })
    await thisMonth.waitFor()
    await revokeAll(tenant)
    visitor.expect(...refusedAt(prompt.publicId))
    await thisMonth.click()
    await visitor.page.getByLabel('API key').waitFor()
    const place = `/prompts/${prompt.publicId}?range=month`
    assert.equal(visitor.place, place)
    await visitor.signIn(await service.key(organisation))
    await eventually(async () => assert.equal(await thisMonth.getAttribute('aria-pressed'), 'true'))
    assert.equal(visitor.place, place)
    assert.equal(await visitor.page.getByRole('alert').count(), 0)
  })
})

async function revokeAll({ service: { store, now }, organisation }: Tenant): Promise<void> {
  for (const { id } of await store.keys.list(organisation.id)) await store.keys.revoke(id, now, operator)
}

/** All of a page that a script in it could find: what it shows and holds, what the browser keeps for it. */
function keptIn({ page }: Visit): Promise<string> {
  return page.evaluate(async () => {
    const typed = [...document.querySelectorAll('input')].map(({ value }) => value)
    const databases = await indexedDB.databases()
    return JSON.stringify([
      document.documentElement.outerHTML,
      typed,
      { ...localStorage },
      { ...sessionStorage },
      document.cookie,
      databases,
      history.state,
      location.href,
    ])
  })
}

function refusedAt(promptId: string): string[] {
  return ['', '/timeline', '/signals/summary'].map((end) => `401 GET /api/v1/prompts/${promptId}${end}`)
}
