import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { eventually } from '../../testing/eventually.ts'
import { startIdentityProvider } from '../../testing/identity-provider.ts'
import { inBrowser } from './support/browser.ts'
import { openPage } from './support/page.ts'
import { closeSecret } from './support/secret.ts'
import { rowWith } from './support/table-row.ts'

const idp = await startIdentityProvider()

inBrowser('People in the console', (suite) => {
  const { service } = suite
  const { issuer, clientId, clientSecret } = idp
  service.signIn = {
    ...service.signIn,
    rules: { domains: ['example.com'], defaultRole: 'viewer', groups: null },
    provider: { kind: 'oidc', issuer, clientId, clientSecret },
  }

  /** A browser of its own, in which nothing is stored. */
  async function newBrowser(t: { after(close: () => Promise<void>): void }): Promise<Page> {
    // The identity provider's.
    service.now = Date.now()
    service.publicUrl = suite.address
    idp.redirectTo(`${suite.address}/sign-in/callback`)
    const page = await openPage(suite.browser, {})
    t.after(() => page.context().close())
    return page
  }

  async function signInAs(page: Page, account: string): Promise<void> {
    idp.account = account
    idp.accounts[account] ??= { email: `${account}@example.com`, email_verified: true, name: account }
    await page.getByRole('button', { name: 'Continue with 127.0.0.1' }).click()
    await page.getByRole('button', { name: `Sign in as ${account}` }).click()
  }

  test('a person signs in through the provider, sees the page they asked for, is signed out when disabled, and gone when deleted', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    const page = await newBrowser(t)
    await page.goto(`${suite.address}/people`)
    await signInAs(page, 'ada')
    await page.getByRole('heading', { name: 'People', level: 1 }).waitFor()
    await rowWith(page, 'ada@example.com').getByText('You').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Invite' }).count(), 0)
    // Cookies do not depend on the port, so those of the provider are there too.
    const cookies = await page.context().cookies(suite.address)
    assert.deepEqual(
      cookies
        .filter(({ name }) => name.startsWith('promptledger'))
        .map(({ name, httpOnly, sameSite }) => [name.replace(/\w{8}$/, ''), httpOnly, sameSite]),
      [['promptledger_session_', true, 'Strict']],
    )

    // An admin, who is signed in with the key of the first start, in another browser.
    const admin = await newBrowser(t)
    await admin.goto(suite.address)
    await admin.getByLabel('API key').fill(tenant.key)
    await admin.getByRole('button', { name: 'Sign in', exact: true }).click()
    await admin.getByRole('link', { name: 'People' }).click()
    await admin.getByText('People sign in with 127.0.0.1.').waitFor()
    await admin.getByLabel('Role of ada').selectOption('member')
    await page.reload()
    await rowWith(page, 'ada@example.com').getByText('member').waitFor()
    await admin.getByRole('button', { name: 'Disable ada' }).click()
    await admin.getByRole('dialog').getByRole('button', { name: 'Disable', exact: true }).click()
    await rowWith(admin, 'ada@example.com').getByText('Disabled').waitFor()
    await page.reload()
    await page.getByText('An admin has disabled your access.').waitFor()
    // The provider remembers her, and asks nothing.
    await page.getByRole('button', { name: 'Continue with 127.0.0.1' }).click()
    await page.waitForURL('**/sign-in?failed=disabled')
    await page.getByText('An admin has disabled your access.').waitFor()

    await admin.getByRole('button', { name: 'Delete ada' }).click()
    const deletion = admin.getByRole('dialog', { name: 'Delete Ada Lovelace?' })
    await deletion.getByText('to keep them out, disable them instead').waitFor()
    await deletion.getByRole('button', { name: 'Cancel' }).click()
    await rowWith(admin, 'ada@example.com').waitFor()
    await admin.getByRole('button', { name: 'Delete ada' }).click()
    await deletion.getByRole('button', { name: 'Delete', exact: true }).click()
    await rowWith(admin, 'ada@example.com').waitFor({ state: 'detached' })
    const [first] = await service.store.organisations.list()
    assert.deepEqual(await service.store.people.list(first?.id as number), [])
  })

  test('an invited person joins by the link, also in a tab that shows the sign-in page, manages a key of their own, and is told what only admins see', async (t) => {
    const [first] = await service.store.organisations.list()
    assert.ok(first)
    const admin = await newBrowser(t)
    await admin.goto(suite.address)
    await admin.getByLabel('API key').fill(await service.key(first, 'admin'))
    await admin.getByRole('button', { name: 'Sign in', exact: true }).click()
    await admin.getByRole('link', { name: 'People' }).click()
    await admin.getByRole('button', { name: 'Invite' }).click()
    const form = admin.getByRole('dialog', { name: 'Invite a person' })
    await form.getByLabel('Email').fill('grace@example.com')
    await form.getByRole('radio', { name: 'member' }).check()
    await form.getByRole('button', { name: 'Create invitation' }).click()
    const created = admin.getByRole('dialog', { name: 'Invitation created' })
    const link = await created.getByLabel('Invitation link', { exact: true }).inputValue()
    await closeSecret(created)

    const page = await newBrowser(t)
    await page.goto(`${suite.address}/sign-in`)
    await page.getByRole('button', { name: 'Continue with 127.0.0.1' }).waitFor()
    assert.equal(await page.getByText('You are invited to join.').count(), 0)
    // Only the fragment differs, so the browser loads nothing by itself.
    await page.evaluate((to) => window.location.assign(to), link)
    await page.getByText('You are invited to join.').waitFor()
    assert.ok(!page.url().includes('pli_'), 'the token stays in the URL')
    await signInAs(page, 'grace')
    await page.getByRole('link', { name: 'Keys' }).click()
    await page.getByRole('button', { name: 'New key' }).click()
    const newKey = page.getByRole('dialog', { name: 'New key' })
    await newKey.getByLabel('Name').fill('My script')
    assert.equal(await newKey.getByRole('radio', { name: 'admin' }).count(), 0)
    await newKey.getByRole('button', { name: 'Create key' }).click()
    await closeSecret(page.getByRole('dialog', { name: 'Key created' }))
    await rowWith(page, 'My script').getByText('Personal').waitFor()

    // What needs attention is hers first, although the other shift is newer.
    const at = service.now - 86_400_000
    for (const [i, name] of ['hers', 'newer'].entries()) {
      const prompt = await service.prompt(first, name)
      const shift = { at: at + i, between: [at, at + i] as [number, number], rateBefore: 0.9, rateAfter: 0.6 }
      const unexplained = { entryId: null, sharedWith: null, candidates: null, foundAt: at }
      await service.store.shifts.replace(prompt, [{ ...shift, ...unexplained }])
      const [stored] = await service.store.shifts.ofPrompt(prompt)
      const [by] = await service.store.keys.list(first.id)
      if (i > 0 || stored === undefined || by === undefined) continue
      const owner = 'Grace@example.com'
      await service.store.shifts.triage(prompt, stored.id, { owner }, service.now, { keyId: by.id })
    }
    await page.goto(`${suite.address}/prompts`)
    const attention = page.getByRole('region', { name: 'Needs attention' }).getByRole('listitem')
    await eventually(async () => {
      const items = await attention.allInnerTexts()
      assert.deepEqual(
        items.map((text) => /hers|newer/.exec(text)?.[0]),
        ['hers', 'newer'],
      )
    })
    for (const [path, title] of Object.entries({ '/settings': 'Settings', '/audit': 'Audit log' })) {
      await page.goto(suite.address + path)
      await page.getByRole('heading', { name: title, level: 1 }).waitFor()
      const told = 'Only admins can see this page. You are signed in as grace@example.com (member).'
      await page.getByText(told).waitFor()
    }
    await page.getByRole('link', { name: 'People' }).click()
    await page.getByText('This browser').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Continue with 127.0.0.1' }).waitFor()
  })

  test('an admin is told which setting is wrong, and a stranger only that one is', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    const page = await newBrowser(t)
    idp.redirectTo('https://elsewhere.example/sign-in/callback')
    // By then the service no longer reuses what it found for the tests before.
    service.now += 60_000
    await page.goto(suite.address)
    await page.getByLabel('API key').fill(tenant.key)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('link', { name: 'People' }).click()
    const alert = page.getByRole('alert').filter({ hasText: 'A setting of sign-in is wrong.' })
    await alert.getByText('which follows from PUBLIC_URL').waitFor()
    await eventually(async () =>
      assert.equal(
        await page.getByLabel('Redirect URL that the provider must know', { exact: true }).inputValue(),
        `${suite.address}/sign-in/callback`,
      ),
    )
    const stranger = await newBrowser(t)
    await stranger.goto(`${suite.address}/sign-in?failed=setup`)
    await stranger.getByText('Sign-in is not set up right.').waitFor()
    await stranger.goto(`${suite.address}/sign-in?failed=%3Cimg%20src=x%3E`)
    await stranger.getByText('Signing in failed. Try again.').waitFor()
  })
})
