import assert from 'node:assert/strict'
import { renameSync } from 'node:fs'
import { test } from 'node:test'
import { operator } from '../../server/src/domain/access/audit.ts'
import { connectRepository } from '../../server/src/follow/connect.ts'
import { syncOnce, syncWithLease } from '../../server/src/follow/worker.ts'
import { GitHttpServer } from '../../testing/git-http.ts'
import { GitRepository } from '../../testing/git-repository.ts'
import { deliveriesFrom } from '../../testing/payloads/deliveries.ts'
import type { Delivery } from '../../testing/payloads/facts.ts'
import { queryRows } from '../../testing/rows.ts'
import { connectedScenario } from '../../testing/scenario.ts'
import { inBrowser } from './support/browser.ts'
import { closeSecret } from './support/secret.ts'
import { rowWith } from './support/table-row.ts'

inBrowser('The repositories page', (suite) => {
  const { service } = suite

  test('a repository can be connected, synced, given a new secret, and disconnected', async (t) => {
    const git = new GitRepository()
    git.commit('Start', { 'prompts/a.md': 'A\n', 'prompts/b.md': 'B\n', 'README.md': 'x\n' })
    git.push()
    const server = await new GitHttpServer().start()
    server.folders.set('/acme/prompts.git', git.remote)
    const url = server.url('/acme/prompts.git')
    Object.assign(service.syncContext, { allowPrivateAddresses: true, allowHttp: true })
    const organisation = await service.organisation()
    const key = await service.key(organisation, 'admin')
    const visitor = await suite.visit(t, { at: '/prompts', key })
    const { page } = visitor
    await page.getByRole('link', { name: 'Connect a repository' }).click()
    const form = page.getByRole('dialog', { name: 'Connect a repository' })

    visitor.expectErrors('422 POST /api/v1/repositories')
    await form.getByLabel('Repository URL').fill('ftp://example.com/prompts.git')
    await form.getByRole('button', { name: 'Connect' }).click()
    await form
      .getByRole('alert')
      .filter({ hasText: /^Repository URL must be/ })
      .waitFor()

    await form.getByLabel('Forge').selectOption('GitHub')
    await form.getByLabel('Repository URL').fill(url)
    await form.getByLabel('Prompt files').fill('prompts/*.md')
    await form.getByRole('button', { name: 'Connect' }).click()
    const connected = page.getByRole('dialog', { name: 'Repository connected' })
    await connected.getByRole('status').filter({ hasText: 'History imported2 prompts, 2 entries' }).waitFor()
    const webhookUrl = await connected.getByLabel('Webhook URL', { exact: true }).inputValue()
    assert.match(webhookUrl, /^https:\/\/ledger\.example\/webhooks\/\w{24}$/)
    const secret = await connected.getByLabel('Webhook secret', { exact: true }).inputValue()
    // Back is Close here too: it must not lose the secret.
    await page.evaluate(() => window.history.back())
    await connected.getByText('The secret is not copied yet, and it cannot be shown again.').waitFor()
    assert.equal(await connected.getByLabel('Webhook secret', { exact: true }).inputValue(), secret)
    assert.equal(await connected.getByText('cannot reach').count(), 0, 'this forge can reach the service')
    await connected.getByRole('button', { name: 'Close anyway' }).click()
    await connected.waitFor({ state: 'detached' })
    assert.equal(visitor.path, '/repositories')
    assert.ok(!(await page.content()).includes(secret))

    const send = ({ headers, body }: Delivery) =>
      fetch(suite.address + new URL(webhookUrl).pathname, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: new Uint8Array(body),
      })
    assert.equal((await send(deliveriesFrom('github', secret).ping())).status, 202)
    await rowWith(page, url).getByText('Connected', { exact: true }).waitFor()
    await page.getByRole('link', { name: url }).click()
    const delivery = page.getByRole('table', { name: 'Deliveries' }).locator('tbody tr')
    await delivery.getByText('ping').waitFor()
    assert.equal(await page.getByLabel('Webhook URL', { exact: true }).inputValue(), webhookUrl)

    const [repository] = await service.store.repositories.list(organisation.id)
    git.commit('More', { 'prompts/c.md': 'C\n' })
    git.push()
    const sync = page.getByRole('button', { name: 'Sync now' })
    await sync.click()
    await page.getByRole('button', { name: 'Syncing…' }).waitFor()
    service.now += 1_000
    await syncOnce(service.syncContext, repository?.id as number)
    await sync.waitFor()
    await page.getByText('3 prompts, 3 entries').waitFor()
    await delivery.getByText('Ignored').waitFor()

    await page.getByRole('button', { name: 'Rotate secret' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
    const rotated = page.getByRole('dialog', { name: 'New webhook secret' })
    const newSecret = await rotated.getByLabel('Webhook secret', { exact: true }).inputValue()
    assert.notEqual(newSecret, secret)
    assert.equal((await send(deliveriesFrom('github', newSecret).ping())).status, 202)
    assert.equal((await send(deliveriesFrom('github', secret).ping())).status, 202)
    await closeSecret(rotated)

    await page.getByRole('button', { name: 'Rotate secret' }).click()
    await page.getByLabel('The old secret has leaked: reject it from now on').check()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
    const lastSecret = await rotated.getByLabel('Webhook secret', { exact: true }).inputValue()
    assert.equal((await send(deliveriesFrom('github', newSecret).ping())).status, 401)
    assert.equal((await send(deliveriesFrom('github', lastSecret).ping())).status, 202)
    await closeSecret(rotated)

    await page.getByRole('button', { name: 'Disconnect' }).click()
    const question = page.getByRole('dialog', { name: 'Disconnect this repository?' })
    await question.getByText(url).waitFor()
    await question.getByRole('button', { name: 'Disconnect' }).click()
    await question.waitFor({ state: 'detached' })
    await page.getByText('Disconnected', { exact: true }).waitFor()
    assert.equal(await sync.count(), 0)
    assert.equal((await send(deliveriesFrom('github', lastSecret).ping())).status, 404)
    await page.getByRole('link', { name: 'Prompts', exact: true }).click()
    await page.getByRole('link', { name: 'prompts/c.md' }).waitFor()
  })

  test('a webhook that the forge cannot reach is explained, with what to do', async (t) => {
    const { tenant, repository } = await connectedScenario(service)
    const setUrl = `update repositories set url = 'https://github.com/acme/prompts.git' where id = ${repository.id}`
    await queryRows(service.url, setUrl)
    const key = await service.key(tenant.organisation, 'admin')
    const at = `/repositories/${repository.id}`
    const publicUrl = service.publicUrl
    t.after(() => {
      service.publicUrl = publicUrl
    })
    service.publicUrl = 'http://127.0.0.1:3000'
    const { page } = await suite.visit(t, { at, key })
    await page.getByText('GitHub cannot reach 127.0.0.1:3000').waitFor()
    await page.getByText('Start the service with PUBLIC_URL set to its address').waitFor()
    await page.getByRole('button', { name: 'Rotate secret' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
    const rotated = page.getByRole('dialog', { name: 'New webhook secret' })
    await rotated.getByText('GitHub cannot reach 127.0.0.1:3000').waitFor()
    await closeSecret(rotated)

    service.publicUrl = 'http://ledger.example'
    await page.reload()
    await page.getByText('Deliveries from GitHub to ledger.example are not encrypted.').waitFor()
  })

  test('a folder on the server needs no webhook, and the page says what happens instead', async (t) => {
    const { tenant, repository } = await connectedScenario(service)
    const key = await service.key(tenant.organisation, 'admin')
    const { page } = await suite.visit(t, { at: `/repositories/${repository.id}`, key })
    await page.getByText('This repository is a folder on the server, so no forge reports its changes.').waitFor()
    const url = page.getByLabel('Webhook URL', { exact: true })
    assert.equal(await url.isVisible(), false)
    await page.getByText('If it is a copy of a repository on a forge').click()
    assert.match(await url.inputValue(), /^https:/)
  })

  test('the page shows a backfill as it progresses, and why a sync failed', async (t) => {
    const git = new GitRepository()
    git.commit('Start', { 'prompts/a.md': 'A\n' })
    git.push()
    const organisation = await service.organisation()
    const settings = { path: 'prompts/*.md', similarity: 100, token: null, secret: null }
    const { lease } = await connectRepository(
      service.syncContext,
      { organisationId: organisation.id, forge: 'gitea', url: git.remote, ...settings },
      operator,
    )
    const { page } = await suite.visit(t, { at: '/repositories', key: await service.key(organisation, 'admin') })
    const row = rowWith(page, git.remote)
    await row.getByText('Connecting').waitFor()
    await row.getByText('0 prompts, 0 entries').waitFor()
    await syncWithLease(service.syncContext, lease)
    await row.getByText('Connected', { exact: true }).waitFor()
    await row.getByText('1 prompt, 1 entry').waitFor()
    git.remove()
    await service.store.repositories.wake(lease.repository, service.now)
    await assert.rejects(syncOnce(service.syncContext, lease.repository.id))
    await page.reload()
    await row.getByText('Failing').waitFor()
    await page.getByRole('link', { name: git.remote }).click()
    await page.getByText('The last sync failed. The service retries automatically.').waitFor()
  })

  test('a repository without a successful sync for two hours is shown as out of date', async (t) => {
    const { tenant, repository } = await connectedScenario(service)
    await queryRows(
      service.url,
      `update repositories set last_sync_at = ${service.now - 7_300_000} where id = ${repository.id}`,
    )
    const key = await service.key(tenant.organisation, 'admin')
    const { page } = await suite.visit(t, { at: '/repositories', key })
    await rowWith(page, repository.url).getByText('Out of date: no successful sync for 2 hours').waitFor()
    await page.getByRole('link', { name: repository.url }).click()
    await page.getByText('The history is out of date: no sync has succeeded for more than two hours.').waitFor()
  })

  test('a repository that moved can be edited, with warnings and errors in place', async (t) => {
    const git = new GitRepository()
    git.commit('Start', { 'prompts/a.md': 'A\n' })
    git.push()
    const organisation = await service.organisation()
    const connect = async (path: string) => {
      const facts = { organisationId: organisation.id, forge: 'gitea' as const, url: git.remote, path }
      const settings = { similarity: 100, token: null, secret: null }
      return (await service.repositories.connect({ ...facts, ...settings }, operator, {})).repository
    }
    const repository = await connect('prompts/*.md')
    const other = new GitRepository()
    other.commit('Other', { 'prompts/o.md': 'O\n' })
    other.push()
    const at = `/repositories/${repository.id}`
    const visitor = await suite.visit(t, { at, key: await service.key(organisation, 'admin') })
    const { page } = visitor
    const renamed = `${git.folder}/renamed.git`
    renameSync(git.remote, renamed)
    await page.getByRole('button', { name: 'Edit' }).click()
    const form = page.getByRole('dialog', { name: 'Edit repository' })
    visitor.expectErrors(`422 PATCH /api/v1/repositories/${repository.id}`)
    await form.getByLabel('Repository URL').fill(other.remote)
    await form.getByRole('button', { name: 'Save' }).click()
    const alert = form.getByRole('alert').filter({ hasText: /^Repository URL must lead to the same repository/ })
    await alert.waitFor()
    await form.getByLabel('Repository URL').fill('git@git.example:acme/prompts.git')
    await form.getByLabel('New SSH key').waitFor()
    assert.equal(await form.getByLabel('New token').count(), 0)
    await form.getByLabel('Repository URL').fill(renamed)
    await form.getByLabel('Remove the stored token').check()
    await form.getByRole('button', { name: 'Save' }).click()
    await form.waitFor({ state: 'detached' })
    await page.getByText(renamed).first().waitFor()
    assert.equal((await service.store.repositories.find(repository.id))?.url, renamed)

    renameSync(renamed, git.remote)
    await connect('prompts/**')
    await page.getByRole('button', { name: 'Edit' }).click()
    await form.getByLabel('Repository URL').fill(git.remote)
    await form.getByRole('button', { name: 'Save' }).click()
    const changed = page.getByRole('dialog', { name: 'Repository changed' })
    await changed.getByText(/is the same repository, and its prompt files prompts\/\*\* overlap with/).waitFor()
    await changed.getByRole('button', { name: 'Done' }).click()
    await changed.waitFor({ state: 'detached' })
  })

  test('reports on pull requests and briefings are switched on with what the token needs, and reports say why they fail', async (t) => {
    const git = new GitRepository()
    git.commit('Start', { 'prompts/a.md': 'A\n' })
    git.push()
    const organisation = await service.organisation()
    const key = await service.key(organisation, 'admin')
    const { page } = await suite.visit(t, { at: '/repositories', key })
    await page.getByRole('button', { name: 'Connect a repository' }).first().click()
    const connectForm = page.getByRole('dialog', { name: 'Connect a repository' })
    const reports = connectForm.getByLabel('Report on pull requests')
    assert.equal(await reports.isChecked(), false)
    await connectForm.getByText('The token needs read and write access to Pull requests and Commit statuses').waitFor()
    await connectForm.getByLabel('Forge').selectOption('gitlab')
    await connectForm.getByText('The token needs the scope api and the role Developer.').waitFor()
    await connectForm.getByLabel('Repository URL').fill('git@gitlab.com:acme/prompts.git')
    await connectForm.getByText('It needs a token, so connect the repository by https:// instead of SSH.').waitFor()
    await connectForm.getByLabel('Repository URL').fill(git.remote)
    await reports.check()
    await connectForm.getByRole('button', { name: 'Connect' }).click()
    await page.getByRole('button', { name: 'Done' }).click()

    await page.getByRole('link', { name: git.remote }).click()
    await page.getByText('Reports on pull requests fail.').waitFor()
    await page.getByText(/need a token with the scope api and the role Developer/).waitFor()
    await page.getByRole('button', { name: 'Edit' }).click()
    const form = page.getByRole('dialog', { name: 'Edit repository' })
    assert.equal(await form.getByLabel('Report on pull requests').isChecked(), true)
    await form.getByLabel('Report on pull requests').uncheck()
    await form.getByRole('button', { name: 'Save' }).click()
    await form.waitFor({ state: 'detached' })
    await page.getByText('Reports on pull requests fail.').waitFor({ state: 'detached' })
    const stored = async () => (await service.store.repositories.list(organisation.id))[0]
    assert.equal((await stored())?.reportsOnPulls, false)

    await page.getByRole('button', { name: 'Edit' }).click()
    assert.equal(await form.getByLabel('Brief reviewers').isChecked(), false)
    await form.getByLabel('Brief reviewers').check()
    await form.getByRole('button', { name: 'Save' }).click()
    await form.waitFor({ state: 'detached' })
    assert.equal((await stored())?.briefsPulls, true)
    await page
      .getByText(/Briefings need a token with the scope api and the role Developer/)
      .first()
      .waitFor()
    await page.locator('dt', { hasText: 'Briefs reviewers' }).locator('+ dd').getByText('On').waitFor()
  })
})
