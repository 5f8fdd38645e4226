import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { firstRun } from '../../server/src/service/first-run.ts'
import { eventually } from '../../testing/eventually.ts'
import { without } from '../../testing/installed-tools.ts'
import { queryRows } from '../../testing/rows.ts'
import { inBrowser } from './support/browser.ts'
import { createChangedPrompt } from './support/changed-prompt.ts'

const run = promisify(execFile)

inBrowser('Set up', (suite) => {
  const { service } = suite
  const checklist = (page: Page) => page.getByRole('region', { name: /^Set up / })
  const step = (page: Page, title: string) => checklist(page).getByRole('listitem').filter({ hasText: title })

  async function newOrganisation() {
    const organisation = await service.organisation()
    return { organisation, key: await service.key(organisation, 'admin') }
  }

  /** Creates a prompt and a key with the checklist, as a new admin does. Returns the secret of the key. */
  async function createPromptAndKey(page: Page): Promise<string> {
    await checklist(page).getByLabel('Name of the prompt').fill('Support replies')
    await checklist(page).getByRole('button', { name: 'Create prompt' }).click()
    await checklist(page).getByRole('combobox', { name: 'Prompt' }).waitFor()
    await checklist(page).getByRole('button', { name: 'Create key' }).click()
    return checklist(page).getByLabel('Key', { exact: true }).inputValue()
  }

  const snippet = (page: Page) => checklist(page).locator('.code-block code').innerText()

  test('a new organisation gets from a key to its first signal, which appears by itself, and hides the rest', async (t) => {
    const { organisation, key } = await newOrganisation()
    const visitor = await suite.visit(t, { key })
    const { page } = visitor
    await page.getByRole('heading', { name: `Set up ${organisation.name}` }).waitFor()
    await checklist(page).getByText('0 of 4 steps done').waitFor()
    const secret = await createPromptAndKey(page)
    assert.match(secret, /^plk_/)
    await checklist(page).getByText('2 of 4 steps done').waitFor()
    const [prompt] = await service.store.prompts.list(organisation.id)
    const address = `${suite.address}/api/v1/prompts/${prompt?.publicId}/signals`
    const text = await snippet(page)
    assert.ok(text.includes(`"${address}"`) && text.includes(`Bearer ${secret}"`), text)
    await checklist(page).getByText('Waiting for the first signal…').waitFor()
    const created = (await service.store.keys.list(organisation.id)).find(({ name }) => name === 'My application')
    assert.equal(created?.role, 'ingest')

    // The browser compares with its own time.
    service.now = suite.time()
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
    const response = await fetch(address, { method: 'POST', headers, body: '{"value":"negative"}' })
    assert.equal(response.status, 201)
    await step(page, 'Send the first signal')
      .getByText(/Signal received: negative, just now/)
      .waitFor()
    await checklist(page).getByText('3 of 4 steps done').waitFor()
    assert.equal(
      await checklist(page).getByLabel('Key', { exact: true }).inputValue(),
      secret,
      'the key is still shown',
    )
    await page.getByRole('row').filter({ hasText: 'Support replies' }).getByText('1', { exact: true }).waitFor()

    await checklist(page).getByRole('button', { name: 'Hide' }).click()
    await checklist(page).waitFor({ state: 'detached' })
    await page.reload()
    await page.getByRole('link', { name: 'Support replies' }).waitFor()
    assert.equal(await checklist(page).count(), 0)
  })

  test('a created key survives a look at another page, and not a reload', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    const { page } = await suite.visit(t, { key: tenant.key })
    const field = checklist(page).getByLabel('Key', { exact: true })
    await checklist(page).getByRole('button', { name: 'Create key' }).click()
    const secret = await field.inputValue()
    await page.getByRole('link', { name: 'Usage', exact: true }).click()
    await page.getByRole('heading', { name: 'Usage' }).waitFor()
    await page.getByRole('link', { name: 'Prompts', exact: true }).click()
    assert.equal(await field.inputValue(), secret)
    await page.reload()
    await checklist(page).getByRole('button', { name: 'Create key' }).waitFor()
    assert.equal(await field.count(), 0)
  })

  test('it disappears with the first signal and a repository, and shows no key again', async (t) => {
    const { scenario } = await createChangedPrompt(service)
    const { page } = await suite.visit(t, { key: scenario.tenant.key })
    await page.getByText('Nothing needs attention').waitFor()
    assert.equal(await checklist(page).count(), 0)
    await queryRows(service.url, `update repositories set disconnected_at = 5 where id = ${scenario.repository.id}`)
    await page.reload()
    await step(page, 'Connect a repository').getByRole('link', { name: 'Connect a repository' }).click()
    await page.getByRole('dialog', { name: 'Connect a repository' }).waitFor()
  })

  test('the very first start of the service leads through it, with the sample prompt', async (t) => {
    const { organisations } = service.store
    // As if the database were empty.
    const createFirst: typeof organisations.createFirst = (organisation) => organisations.create(organisation)
    const first = await firstRun({ ...service.store, organisations: { ...organisations, createFirst } }, service.now)
    assert.ok(first)
    const { page } = await suite.visit(t, { key: first.secret })
    await checklist(page).getByText('1 of 4 steps done').waitFor()
    const shown = await snippet(page)
    for (const part of [first.promptId, '"version": "', '"subject": "answer-1"'])
      assert.ok(shown.includes(part), `${part}: ${shown}`)

    // A signal of the sample shows that it works. The checklist ends with one of the organisation's own prompt.
    service.now = suite.time()
    const send = (promptId: string) =>
      service.app.inject({
        method: 'POST',
        url: `/api/v1/prompts/${promptId}/signals`,
        headers: { authorization: `Bearer ${first.secret}` },
        payload: { value: 'positive' },
      })
    assert.equal((await send(first.promptId)).statusCode, 201)
    await page.reload()
    await checklist(page).getByText('It works. Now choose a prompt of your own.').waitFor()
    await checklist(page).getByText('1 of 4 steps done').waitFor()
    await checklist(page).getByRole('button', { name: 'Create another prompt' }).click()
    await checklist(page).getByLabel('Name of the prompt').fill('Support replies')
    await checklist(page).getByRole('button', { name: 'Create prompt' }).click()
    const prompts = () => service.store.prompts.list(first.organisationId)
    await eventually(async () => assert.equal((await prompts()).length, 2))
    const own = (await prompts()).find(({ publicId }) => publicId !== first.promptId)
    await eventually(async () => assert.ok((await snippet(page)).includes(own?.publicId ?? '?')))
    assert.equal((await send(own?.publicId ?? '')).statusCode, 201)
    await checklist(page).getByText('3 of 4 steps done').waitFor()

    // The sample can go, and the snippets of each prompt stay reachable.
    await page.getByRole('link', { name: '/sample/welcome.md' }).click()
    await page.getByRole('button', { name: 'Rename', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Welcome')
    await dialog.getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('heading', { name: 'Welcome', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Send signals' }).click()
    await dialog.getByText('"subject": "answer-1"').waitFor()
    assert.ok((await dialog.locator('.code-block code').innerText()).includes(first.promptId))
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await dialog.getByRole('button', { name: 'Delete prompt' }).click()
    await page.getByRole('link', { name: 'Support replies' }).waitFor()
    await eventually(async () => assert.equal(await page.getByRole('link', { name: 'Welcome' }).count(), 0))
  })

  test('a reader sees what is left to do, and nothing that only an admin can do', async (t) => {
    const { organisation } = await newOrganisation()
    const { page } = await suite.visit(t, { key: await service.key(organisation, 'reader') })
    await checklist(page).getByText('Ask an administrator for a key of role ingest').waitFor()
    await checklist(page).getByText('There is no prompt yet.').waitFor()
    await checklist(page).getByText('0 of 3 steps done').waitFor()
    assert.equal(await checklist(page).getByRole('listitem').count(), 3)
    assert.equal(
      await checklist(page)
        .getByRole('button', { name: /Create/ })
        .count(),
      0,
    )
    assert.equal(await checklist(page).getByRole('link').count(), 0)
    const prompt = await service.prompt(organisation)
    await page.reload()
    await checklist(page).getByText('Replace YOUR_KEY with your key.').waitFor()
    assert.ok((await snippet(page)).includes(prompt.publicId))
  })

  test('a hidden page does not ask for signals, and a visible one asks ever less often', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    const visitor = await suite.visit(t, { isLast: true })
    const { page } = visitor
    await page.clock.install({ time: suite.time() })
    const path = `/api/v1/prompts/${tenant.prompt.publicId}/signals`
    let [asked, answered] = [0, 0]
    page.on('request', (request) => {
      if (new URL(request.url()).pathname === path) asked++
    })
    page.on('requestfinished', (request) => {
      if (new URL(request.url()).pathname === path) answered++
    })
    await visitor.signIn(tenant.key)
    await checklist(page).getByText('Waiting for the first signal…').waitFor()
    await eventually(() => assert.ok(asked >= 1))
    const setVisibility = (state: string) =>
      page.evaluate((visibility) => {
        Object.defineProperty(document, 'visibilityState', { value: visibility, configurable: true })
        document.dispatchEvent(new Event('visibilitychange'))
      }, state)
    const roundTrip = () => page.evaluate(() => fetch('/api/v1/session').then((response) => response.text()))
    const waitUntilAskedAgain = async () => {
      const before = asked
      for (let seconds = 1; ; seconds++) {
        assert.ok(seconds <= 60, 'asks at least twice a minute')
        await page.clock.runFor(1_000)
        await roundTrip()
        if (asked > before) return seconds
      }
    }
    const waits: number[] = []
    for (let i = 0; i < 6; i++) waits.push(await waitUntilAskedAgain())
    assert.ok((waits[0] ?? 0) <= 4 && (waits[5] ?? 0) > (waits[0] ?? 0), `waited ${waits} s`)
    // Otherwise two minutes pass for the request that is under way, and the client repeats it.
    await eventually(() => assert.equal(answered, asked))
    await setVisibility('hidden')
    await roundTrip()
    const before = asked
    await page.clock.runFor(120_000)
    await roundTrip()
    assert.equal(asked, before)
    await setVisibility('visible')
    await eventually(() => assert.ok(asked > before))
  })

  const tools = { curl: ['curl'], JavaScript: [], Python: ['python3'], Go: ['go'] } as const
  for (const [language, needed] of Object.entries(tools)) {
    const skip = without(...needed)
    test(`the ${language} snippet records a signal as it is shown`, { skip }, async (t) => {
      const tenant = await service.tenant('free', 'admin')
      const { page } = await suite.visit(t, { key: tenant.key })
      await checklist(page).getByRole('button', { name: 'Create key' }).click()
      await checklist(page).getByLabel('Key', { exact: true }).waitFor()
      await checklist(page).getByRole('button', { name: language, exact: true }).click()
      const output = await runSnippet(t, language, await snippet(page))
      assert.match(output, /positive/)
      assert.equal(await tenant.used(), 1)
    })
  }
})

async function runSnippet(t: TestContext, language: string, text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'promptledger-snippet-'))
  t.after(() => rm(folder, { recursive: true }))
  const files: Record<string, string> = { curl: 'a.sh', JavaScript: 'a.mjs', Python: 'a.py', Go: 'main.go' }
  const file = join(folder, files[language] as string)
  await writeFile(file, `${text}\n`)
  const commands: Record<string, [string, ...string[]]> = {
    curl: ['sh', file],
    JavaScript: [process.execPath, file],
    Python: ['python3', file],
    Go: ['go', 'run', file],
  }
  const [command, ...args] = commands[language] as [string, ...string[]]
  return (await run(command, args)).stdout
}
