import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { eventually } from '../../testing/eventually.ts'
import { openPull } from '../../testing/operations.ts'
import { connectedScenario, type Scenario } from '../../testing/scenario.ts'
import { checkAccessibility, checkFits } from './support/accessibility.ts'
import { inBrowser } from './support/browser.ts'
import { dayMs } from './support/changed-prompt.ts'
import { eventuallyHasFocus, tabTo } from './support/keyboard.ts'
import { rowWith } from './support/table-row.ts'
import { deliver, judge, startTrial, vote } from './support/trial.ts'

// Slow: follows whole trials in a real browser.

const worse = { control: 0.85, candidate: 0.4 }
const better = { control: 0.4, candidate: 0.9 }
const same = { control: 0.8, candidate: 0.8 }

inBrowser('Trials', (suite) => {
  const { service } = suite
  before(() => {
    service.planLimits.free = 100_000
    // Votes take time, and the browser shows what is in the past.
    service.now -= dayMs
  })

  async function trialFor(scenario: Scenario, body?: object) {
    const id = await startTrial(service, scenario, body)
    const trial = async () => {
      const found = await service.store.trials.find(scenario.tenant.organisation.id, id)
      assert.ok(found)
      return found
    }
    return { id, trial, at: `/trials/${id}`, key: scenario.tenant.key }
  }

  test('a trial is started and followed until it is worse, when no user gets the candidate any more', async (t) => {
    const scenario = await connectedScenario(service)
    await openPull(scenario, 41)
    const { key } = scenario.tenant
    const visitor = await suite.visit(t, { at: '/trials', key })
    const { page } = visitor
    await page.getByRole('heading', { name: 'No trials yet' }).waitFor()
    await checkAccessibility(page, 'no trials')
    await page.setViewportSize({ width: 375, height: 800 })
    await checkFits(page, 'no trials at 375 px')
    await page.setViewportSize({ width: 1_280, height: 800 })
    await page.getByRole('button', { name: 'Try a pull request' }).click()
    const dialog = page.getByRole('dialog', { name: 'Try a pull request' })
    await dialog.getByText('Text delivery is off.').waitFor()
    await dialog.getByRole('link', { name: 'settings' }).click()
    await page.getByLabel('Deliver texts to applications').check()
    await page.getByRole('button', { name: 'Save text delivery' }).click()
    await page.getByText('Saved.').waitFor()
    await service.storeLiveTexts()

    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').fill('try a pull')
    await page.getByRole('option', { name: 'Try a pull request', selected: true }).waitFor()
    await page.keyboard.press('Enter')
    await eventuallyHasFocus(dialog.getByLabel('Pull request or commit'))
    assert.equal(await dialog.getByText('Text delivery is off.').count(), 0)
    await page.keyboard.type('#41')
    await dialog.getByLabel('Share', { exact: true }).fill('50')
    await page.keyboard.press('Enter')
    await dialog.getByText(/^Commit \w{7}.* changes prompts\/p\.md\./).waitFor()
    await checkAccessibility(page, 'what a trial will serve')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Trial of pull request #41' }).waitFor()
    await page.getByText('No votes yet.').waitFor()
    assert.match(visitor.path, /^\/trials\/trl_\w{24}$/)

    await vote(scenario, { count: 24, rates: { control: 0.9, candidate: 0.6 } })
    await page.getByText('At the traffic of the last day, expect one in about').waitFor()
    const figures = page.getByRole('table', { name: 'Figures of both versions' })
    assert.match(await figures.innerText(), /Candidate\s+50%\s/)
    await vote(scenario, { count: 300, rates: worse })
    await page.getByText('The candidate is worse than the live version. The trial has ended').waitFor()
    const cells = (name: string) => figures.getByRole('row', { name }).getByRole('cell').allInnerTexts()
    const [live, candidate] = [await cells('Live version'), await cells('Candidate')]
    assert.deepEqual([live[0], candidate[0]], ['100%', '0%'])
    assert.match([live.at(-1), candidate.at(-1)].join(), /^8\d%,4\d%$/)
    assert.equal(Number(live[1]) + Number(candidate[1]), 324)
    assert.deepEqual([live[3], candidate[3]], ['1', '1'])
    await page.getByText(/Difference: −\d\d(\.\d)? percentage points .*: −\d\S+ to −\d/).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Change share' }).count(), 0)
    const { data } = (await (await suite.request(key, '/delivery')).json()) as {
      data: { prompts: { trial: unknown }[] }
    }
    assert.deepEqual(
      data.prompts.map(({ trial }) => trial),
      [null, null],
    )

    await page.getByRole('link', { name: 'prompts/p.md' }).click()
    await page.getByText(/Last trial: #41, worse, /).waitFor()
    await page.getByRole('link', { name: 'Trial: worse' }).click()
    await page.getByRole('heading', { name: 'Trial of pull request #41' }).waitFor()
    await page.getByRole('navigation', { name: 'Breadcrumbs' }).getByRole('link', { name: 'Trials' }).click()
    const row = rowWith(page, 'prompts/p.md')
    await eventually(async () => assert.match(await row.innerText(), /#41\s+0%\s+Ended\s+Worse\s+324/))
  })

  test('what the service rejects is said at the field to blame, and a trial that runs is linked', async (t) => {
    const scenario = await connectedScenario(service)
    const { id } = await trialFor(scenario)
    await openPull(scenario, 42)
    const visitor = await suite.visit(t, { at: '/trials?try=1', key: scenario.tenant.key })
    visitor.expectErrors('422 GET /api/v1/trials/candidate', '422 POST /api/v1/trials', '409 POST /api/v1/trials')
    const { page } = visitor
    const dialog = page.getByRole('dialog', { name: 'Try a pull request' })
    const [candidate, share] = [
      dialog.getByLabel('Pull request or commit'),
      dialog.getByLabel('Share', { exact: true }),
    ]
    const rejects = async (what: string, part: string, field: typeof candidate, message: RegExp) => {
      await candidate.fill(what)
      await share.fill(part)
      await page.keyboard.press('Enter')
      await dialog.getByRole('alert').filter({ hasText: message }).waitFor()
      assert.equal(await dialog.getByRole('alert').count(), 1)
      const describedBy = (await field.getAttribute('aria-describedby'))?.split(' ') ?? []
      const [error] = await Promise.all(describedBy.map((each) => page.locator(`[id="${each}"]`).innerText()))
      assert.match(error ?? '', message)
      assert.equal(await field.getAttribute('aria-invalid'), 'true')
    }
    await rejects(
      'main',
      '10%',
      candidate,
      /^Pull request or commit must be the number of a pull request, or the full hash/,
    )
    await rejects('99', '10%', candidate, /^Pull request is unknown in /)
    await rejects('a'.repeat(40), '10%', candidate, /^Commit is unknown in /)
    await rejects('42', '110', share, /^Share must be from 0% to 100%/)
    await rejects('42', '20%, 5%', share, /^Share must rise from step to step/)
    await checkAccessibility(page, 'an error at a field')
    await candidate.fill('42')
    await share.fill('5%, 20%')
    await dialog.getByLabel('Votes for each share').fill('50')
    await page.keyboard.press('Enter')
    await dialog.getByRole('button', { name: 'Start trial' }).click()
    await dialog
      .getByRole('alert')
      .filter({ hasText: `Trial ${id} already runs` })
      .waitFor()
    await dialog.getByRole('link', { name: 'Show the trial that runs' }).click()
    await page.getByRole('heading', { name: 'Trial of pull request #41' }).waitFor()
  })

  test('a ramp is started, and its current share is shown', async (t) => {
    const scenario = await connectedScenario(service)
    await deliver(service, scenario)
    await openPull(scenario, 41)
    const { page } = await suite.visit(t, { at: '/trials?try=1', key: scenario.tenant.key })
    const dialog = page.getByRole('dialog', { name: 'Try a pull request' })
    await dialog.getByLabel('Pull request or commit').fill('41')
    await dialog.getByLabel('Share', { exact: true }).fill('40%, 80%')
    await dialog.getByLabel('Votes for each share').fill('50')
    await dialog.getByRole('button', { name: 'Continue' }).click()
    await dialog.getByRole('button', { name: 'Start trial' }).click()
    const current = page.locator('.details-list strong')
    await eventually(async () => assert.equal(await current.innerText(), '40%'))
    await vote(scenario, { count: 60, rates: same })
    await eventually(async () => assert.equal(await current.innerText(), '80%'))
    await page.getByText('40% → 80% after 50 votes each').waitFor()
  })

  test('its share is changed, and it is paused, resumed and ended, with the keyboard alone', async (t) => {
    const { trial, at, key } = await trialFor(await connectedScenario(service))
    const { page } = await suite.visit(t, { at, key })
    const { keyboard } = page
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    const dialog = page.getByRole('dialog')
    await tabTo(page, button('Change share'))
    await keyboard.press('Enter')
    await eventuallyHasFocus(dialog.getByLabel('Share', { exact: true }))
    await keyboard.press('Control+a')
    await keyboard.type('500')
    await keyboard.press('Enter')
    await dialog.getByRole('alert').filter({ hasText: 'Share must be from 0% to 100%' }).waitFor()
    await keyboard.press('Control+a')
    await keyboard.type('60.5%')
    await keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    assert.equal((await trial()).share, 0.605)
    await page.getByRole('row', { name: 'Candidate' }).getByText('60.5%').waitFor()
    await eventuallyHasFocus(button('Change share'))
    const steps = [
      ['Pause', 'Pause', 'paused'],
      ['Resume', 'Resume', 'running'],
      ['End', 'End trial', 'ended'],
    ] as const
    for (const [opens, confirms, state] of steps) {
      await tabTo(page, button(opens))
      await keyboard.press('Enter')
      await eventuallyHasFocus(dialog.getByRole('button', { name: 'Cancel' }))
      await tabTo(page, dialog.getByRole('button', { name: confirms, exact: true }))
      await keyboard.press('Enter')
      await dialog.waitFor({ state: 'detached' })
      await page.locator('.badge').getByText(state, { exact: false }).waitFor()
      assert.equal((await trial()).state, state)
    }
    await page.getByText('The trial ended without a verdict: someone ended it.').waitFor()
  })

  test('only keys that may run trials see buttons, and every reader sees the figures', async (t) => {
    const scenario = await connectedScenario(service)
    const { at } = await trialFor(scenario)
    for (const [role, count] of [
      ['reader', 0],
      ['standard', 0],
      ['deploy', 1],
    ] as const) {
      const { page } = await suite.visit(t, { at, key: await service.key(scenario.tenant.organisation, role) })
      await page.getByRole('table', { name: 'Figures of both versions' }).waitFor()
      assert.equal(await page.getByRole('button', { name: 'End', exact: true }).count(), count, role)
      await page.getByRole('link', { name: 'Trials' }).first().click()
      await rowWith(page, '#41').waitFor()
      assert.equal(await page.getByRole('button', { name: 'Try a pull request' }).count(), count, role)
    }
  })

  test('a key with the role deploy is offered nothing that it may not do', async (t) => {
    const scenario = await connectedScenario(service)
    const key = await service.key(scenario.tenant.organisation, 'deploy')
    const prompt = await scenario.promptId('prompts/p.md')
    const { page } = await suite.visit(t, { at: `/prompts/${prompt}`, key })
    await page.getByRole('button', { name: 'Send signals' }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Share', exact: true }).count(), 0)
  })

  test('a mismatch is explained with its figures', async (t) => {
    const scenario = await connectedScenario(service)
    const { at, key } = await trialFor(scenario)
    const { page } = await suite.visit(t, { at, key })
    // Those who vote earlier may have been served before the start.
    service.now += 3_600_000
    await vote(scenario, { count: 500, rates: worse, turnout: { control: 1, candidate: 0.3 } })
    const notice = page.locator('.notice.caution')
    await notice.getByText('This trial cannot be judged').waitFor()
    const text = await notice.innerText()
    assert.match(text, /promised 50% of both\. It has (4|5)\d% of the units served, and (1|2)\d% of the voters/)
    assert.match(text, /compare the votes per unit/)
    await checkAccessibility(page, 'a mismatch')
    await page.setViewportSize({ width: 375, height: 800 })
    await checkFits(page, 'a mismatch at 375 px')
  })

  test('a better candidate proposes the merge, after which the change names its trial', async (t) => {
    const scenario = await connectedScenario(service)
    const { at, key, trial } = await trialFor(scenario)
    const { page } = await suite.visit(t, { at, key })
    await vote(scenario, { count: 300, rates: better })
    await page.getByText('Merge pull request #41 when you are ready. That ends the trial.').waitFor()
    await checkAccessibility(page, 'a better candidate')

    const { git, forge } = scenario
    const { commitSha: head } = await trial()
    const mergeCommit = git.merge('pull-41', 'Merge pull request #41 from acme/pull-41')
    await scenario.push()
    const facts = { number: 41, head, openedAt: '2026-11-02T10:00:00Z', at: new Date(service.now).toISOString() }
    await scenario.deliver(forge.pull({ action: 'merged', ...facts, mergeCommit }))
    await judge(service)
    await page.getByText('The trial has ended: the candidate is live.').waitFor()
    await page.getByRole('link', { name: 'prompts/p.md' }).click()
    const entry = page.locator('.timeline-item').filter({ has: page.getByRole('link', { name: 'Trial: better' }) })
    await entry.getByRole('button').first().click()
    const panel = page.getByRole('complementary', { name: 'Selected change' })
    await panel.getByText('randomised trial of this change: better, +').waitFor()
    await checkAccessibility(page, 'a change with a trial')
    await panel.getByRole('link', { name: 'randomised trial' }).click()
    await page.getByRole('heading', { name: 'Trial of pull request #41' }).waitFor()
  })

  test('trials are listed by state and by prompt, and an unknown one is a page of its own', async (t) => {
    const scenario = await connectedScenario(service)
    const first = await trialFor(scenario)
    const { page } = await suite.visit(t, { at: first.at, key: first.key })
    await page.getByRole('button', { name: 'End', exact: true }).click()
    await page.getByRole('button', { name: 'End trial' }).click()
    await page.getByText('Ended', { exact: true }).first().waitFor()
    service.now += 1_000
    const { commitSha: commit } = await first.trial()
    scenario.git.push(`${commit}:kept`)
    await trialFor(scenario, { commit, share: 0.005 })
    await page.getByRole('link', { name: 'Trials' }).first().click()
    await rowWith(page, 'Running').waitFor()
    assert.match(await rowWith(page, 'Running').innerText(), /0\.5%/)
    await eventually(async () => assert.equal(await page.locator('tbody tr').count(), 2))
    await page.getByRole('button', { name: 'Running' }).click()
    await eventually(async () => assert.equal(await page.locator('tbody tr').count(), 1))
    await page.getByRole('button', { name: 'Paused' }).click()
    await page.getByRole('heading', { name: 'No paused trials' }).waitFor()
    await page.goto(`${suite.address}/prompts/${await scenario.promptId('prompts/p.md')}`)
    await page.getByRole('link', { name: /^0\.5% of users get \w{7} in a trial/ }).waitFor()
    await page.getByRole('link', { name: 'All 2 trials' }).click()
    await page.getByText('Trials of one prompt.').waitFor()
    await eventually(async () => assert.equal(await page.locator('tbody tr').count(), 2))
    const visitor = await suite.visit(t, { key: first.key })
    const unknown = `/trials/trl_${'0'.repeat(24)}`
    visitor.expectErrors(`404 GET /api/v1${unknown}`)
    await visitor.open(unknown)
    await visitor.page.getByText('Page not found').waitFor()
  })
})
