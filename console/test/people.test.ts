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

  test('a person signs in through the provider, sees the page they asked for, and is signed out when disabled', async (t) => {
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
        .map(({ name, httpOnly, sameSite }) => ({ name, httpOnly, sameSite })),
      [{ name: 'promptledger_session', httpOnly: true, sameSite: 'Strict' }],
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
  })

  test('an invited person joins by the link, and manages a key of their own', async (t) => {
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
    await page.goto(link)
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

    await page.getByRole('link', { name: 'People' }).click()
    await page.getByText('This browser').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Continue with 127.0.0.1' }).waitFor()
  })

  test('an admin is told which setting is wrong, and a stranger only that one is', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    const page = await newBrowser(t)
    idp.redirectTo('https://elsewhere.example/sign-in/callback')
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
