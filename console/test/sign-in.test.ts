import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateSecret } from '../../server/src/domain/access/api-key.ts'
import { operator } from '../../server/src/domain/access/audit.ts'
import { newPrompt } from '../../server/src/domain/prompt.ts'
import { eventually } from '../../testing/eventually.ts'
import type { Tenant } from '../../testing/service.ts'
import { inBrowser } from './support/browser.ts'
import type { Visitor } from './support/visitor.ts'

inBrowser('Signing in', (suite) => {
  const { service } = suite

  for (const role of ['standard', 'admin'] as const) {
    test(`a key of role ${role} signs in, and stays nowhere in the page`, async (t) => {
      const { key } = await service.tenant('free', role)
      const visitor = await suite.visit(t, { key })
      await visitor.page.getByRole('heading', { name: 'Prompts' }).waitFor()
      assert.equal(visitor.path, '/prompts')
      const reachable = await allPageData(visitor)
      for (const part of [key, key.slice(4, 24)]) assert.ok(!reachable.includes(part), `the page contains ${part}`)
      const cookies = await visitor.page.context().cookies()
      assert.deepEqual(
        cookies.map(({ name, httpOnly, sameSite }) => [name.replace(/\w{8}$/, ''), httpOnly, sameSite]),
        [['__Host-promptledger_session_', true, 'Strict']],
      )
    })
  }

  test('only admins see the pages of repositories, alerts and keys', async (t) => {
    const { organisation, key } = await service.tenant('free', 'standard')
    const standard = await suite.visit(t, { key })
    const links = (visitor: Visitor) => visitor.page.getByRole('navigation', { name: 'Main' }).getByRole('link')
    await links(standard).first().waitFor()
    assert.deepEqual(await links(standard).allTextContents(), ['Prompts', 'Regressions', 'Trials', 'Usage', 'People'])
    for (const path of ['/keys', '/repositories', '/repositories/1', '/alerts']) {
      await standard.open(path)
      await standard.page.getByRole('heading', { name: 'Page not found' }).waitFor()
    }
    const admin = await suite.visit(t, { key: await service.key(organisation, 'admin') })
    await links(admin).first().waitFor()
    assert.deepEqual(await links(admin).allTextContents(), [
      'Prompts',
      'Regressions',
      'Trials',
      'Usage',
      'Repositories',
      'Sources',
      'Alerts',
      'Keys',
      'People',
      'Audit',
      'Settings',
    ])
  })

  test('a rejected key shows why, and the user can try another one', async (t) => {
    const { organisation, key } = await service.tenant()
    const visitor = await suite.visit(t)
    visitor.expectErrors('401 POST /api/v1/session', '403 POST /api/v1/session')
    const alert = visitor.page.getByRole('alert')
    for (const wrong of [generateSecret(), 'a mistyped one']) {
      await visitor.submitKey(wrong)
      await eventually(async () => {
        assert.deepEqual(await alert.allTextContents(), ['This key is unknown, revoked or expired.'])
      })
      await visitor.open('/')
    }
    await visitor.submitKey(await service.key(organisation, 'ingest'))
    await eventually(async () => {
      const message = 'Ingest and recorder keys can only record. Sign in with a reader, standard, deploy or admin key.'
      assert.deepEqual(await alert.allTextContents(), [message])
    })
    await visitor.signIn(` ${key} `)
    await visitor.page.getByRole('heading', { name: 'Prompts' }).waitFor()
  })

  test('the key of a password manager signs in, which fills the field without an event and submits at once', async (t) => {
    const { key } = await service.tenant()
    const visitor = await suite.visit(t)
    await visitor.page.getByLabel('API key').evaluate((field: HTMLInputElement, key) => {
      // Not `field.value = …`, which React watches.
      Reflect.set(HTMLInputElement.prototype, 'value', key, field)
      field.form?.requestSubmit()
    }, key)
    await visitor.page.getByRole('heading', { name: 'Prompts' }).waitFor()
  })

  test('signing in opens the URL that was requested', async (t) => {
    const { key, prompt } = await service.tenant()
    const path = `/prompts/${prompt.publicId}?range=month&action=deployed`
    const visitor = await suite.visit(t, { at: path, key })
    await visitor.page.getByRole('heading', { name: prompt.name }).waitFor()
    assert.equal(visitor.path, path)
  })

  test('signing out ends the session and leaves no data of the organisation in the page', async (t) => {
    const { key, prompt } = await service.tenant()
    const visitor = await suite.visit(t, { key })
    await visitor.page.getByRole('link', { name: prompt.name }).waitFor()
    visitor.expectEndOfSession()
    await visitor.page.getByRole('button', { name: 'Sign out' }).click()
    await visitor.page.getByLabel('API key').waitFor()
    assert.ok(!(await allPageData(visitor)).includes(prompt.name))
    assert.deepEqual(await visitor.page.context().cookies(), [])
    await visitor.page.reload()
    await visitor.page.getByLabel('API key').waitFor()
  })

  test('a new session shows no data of the organisation that was signed in before', async (t) => {
    const [first, second] = [await service.tenant(), await service.tenant()]
    const prompt = newPrompt(second.organisation.id, 'prompts/of-another.md', service.now)
    await service.store.prompts.create(prompt, operator)
    // With a signal, the page does not wait for the first one.
    await first.fillMonth(1)
    const visitor = await suite.visit(t, { key: first.key })
    await visitor.page.getByRole('link', { name: first.prompt.name }).waitFor()
    visitor.expectEndOfSession()
    await revokeAllKeys(first)
    await visitor.page.getByRole('link', { name: 'Regressions' }).click()
    await visitor.page.getByLabel('API key').waitFor()
    await visitor.signIn(second.key)
    await visitor.page.getByRole('link', { name: 'Prompts', exact: true }).click()
    await visitor.page.getByRole('link', { name: prompt.name }).waitFor()
  })

  test('a revoked key brings up the sign-in form, and signing in again restores the view', async (t) => {
    const tenant = await service.tenant()
    const { organisation, key, prompt } = tenant
    const visitor = await suite.visit(t, { at: `/prompts/${prompt.publicId}`, key })
    const lastMonth = visitor.page.getByRole('button', { name: '30 days' })
    await lastMonth.waitFor()
    visitor.expectEndOfSession()
    await revokeAllKeys(tenant)
    await lastMonth.click()
    await visitor.page.getByLabel('API key').waitFor()
    const path = `/prompts/${prompt.publicId}?range=month`
    assert.equal(visitor.path, path)
    await visitor.signIn(await service.key(organisation))
    await eventually(async () => assert.equal(await lastMonth.getAttribute('aria-pressed'), 'true'))
    assert.equal(visitor.path, path)
    assert.equal(await visitor.page.getByRole('alert').count(), 0)
  })
})

async function revokeAllKeys({ service: { store, now }, organisation }: Tenant): Promise<void> {
  for (const { id } of await store.keys.list(organisation.id)) await store.keys.revoke(id, now, operator)
}

/** Everything that a script in the page could read: its content, its inputs and the browser's storage. */
function allPageData({ page }: Visitor): Promise<string> {
  return page.evaluate(async () => {
    const inputs = [...document.querySelectorAll('input')].map(({ value }) => value)
    const databases = await indexedDB.databases()
    return JSON.stringify([
      document.documentElement.outerHTML,
      inputs,
      { ...localStorage },
      { ...sessionStorage },
      document.cookie,
      databases,
      history.state,
      location.href,
    ])
  })
}
