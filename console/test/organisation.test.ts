import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operator } from '../../server/src/domain/access/audit.ts'
import { eventually } from '../../testing/eventually.ts'
import { inBrowser } from './support/browser.ts'

inBrowser('The settings page', (suite) => {
  const { service } = suite

  test('the organisation can be renamed, and its ID and limits are shown', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    await tenant.fillMonth(850)
    const visitor = await suite.visit(t, { at: '/settings', key: tenant.key })
    const { page } = visitor
    const organisation = page.getByRole('region', { name: 'Organisation' })
    await organisation.getByText(String(tenant.organisation.id), { exact: true }).waitFor()
    await organisation.getByLabel('Name').fill('Acme <b>Ltd</b>')
    await organisation.getByRole('button', { name: 'Rename' }).click()
    await organisation.getByText('Renamed.').waitFor()
    await page.getByRole('banner').getByText('Acme <b>Ltd</b>').waitFor()
    assert.equal((await service.store.organisations.find(tenant.organisation.id))?.name, 'Acme <b>Ltd</b>')
    // As many characters as the service accepts, typed: a script could set any value.
    await organisation.getByLabel('Name').fill('')
    await page.keyboard.insertText('😀'.repeat(200))
    await organisation.getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('banner').getByText('😀'.repeat(200)).waitFor()
    visitor.expectErrors('422 PATCH /api/v1/organisation')
    await organisation.getByLabel('Name').fill('a\u202eb')
    await organisation.getByRole('button', { name: 'Rename' }).click()
    await organisation
      .getByRole('alert')
      .filter({ hasText: /^Name must not contain hidden characters/ })
      .waitFor()

    const limits = page.getByRole('region', { name: 'Plan and limits' })
    const signals = limits.getByRole('meter', { name: 'Signals this month' })
    await eventually(async () => assert.equal(await signals.getAttribute('aria-valuetext'), '850 of 1,000'))
    assert.equal(await signals.locator('span').count(), 1)
    const alerts = limits.getByRole('meter', { name: 'Alerts' })
    assert.equal(await alerts.locator('span').count(), 0, 'nothing is filled for 0')
    const text = await limits.innerText()
    for (const part of ['Free plan', '0 of 100', '0 of 20', 'kept until they are deleted'])
      assert.ok(text.includes(part), text)
    assert.equal(
      await limits.getByLabel('Command that changes the plan', { exact: true }).inputValue(),
      `promptledger org set-plan ${tenant.organisation.id} team`,
    )
  })

  test('a form sends what it holds, even if Enter follows the last letter in the same moment', async (t) => {
    const { key, organisation } = await service.tenant('free', 'admin')
    const { page } = await suite.visit(t, { at: '/settings', key })
    const region = page.getByRole('region', { name: 'Organisation' })
    await region.getByLabel('Name').evaluate((field: HTMLInputElement) => {
      Reflect.set(HTMLInputElement.prototype, 'value', 'Typed fast', field)
      field.dispatchEvent(new Event('input', { bubbles: true }))
      field.form?.requestSubmit()
    })
    await region.getByText('Renamed.').waitFor()
    assert.equal((await service.store.organisations.find(organisation.id))?.name, 'Typed fast')
  })

  test('segments are declared for all prompts and for one prompt', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    const visitor = await suite.visit(t, { at: '/settings', key: tenant.key })
    const { page } = visitor
    const segments = page.getByRole('region', { name: 'Segments' })
    await segments.getByLabel('Keys for all prompts').fill('model\n\nlocale')
    await segments.getByRole('button', { name: 'Save segments' }).click()
    const { id } = tenant.organisation
    // The form resets to what was saved, which would overwrite an earlier entry.
    await segments.getByText('Saved.').first().waitFor()
    assert.deepEqual(await service.store.segments.ofOrganisation(id), ['model', 'locale'])
    visitor.expectErrors('422 PUT /api/v1/segments')
    await segments.getByLabel('Keys for all prompts').fill('a\nb\nc\nd\ne\nf')
    await segments.getByRole('button', { name: 'Save segments' }).click()
    await segments
      .getByRole('alert')
      .filter({ hasText: /^Keys for all prompts / })
      .waitFor()

    await segments.getByText('Segments of one prompt').click()
    await segments.getByLabel('Prompt', { exact: true }).fill('prompts/a.md')
    await segments.getByText('This prompt uses the keys for all prompts.').waitFor()
    await segments.getByLabel('Keys for this prompt').fill('app_version')
    await segments.getByRole('button', { name: 'Save segments' }).last().click()
    await segments.getByText('This prompt has keys of its own.').waitFor()
    assert.deepEqual((await service.store.segments.ofPrompt(tenant.prompt)).keys, ['app_version'])
    await segments.getByRole('button', { name: 'Use the keys for all prompts' }).click()
    await segments.getByText('This prompt uses the keys for all prompts.').waitFor()
    assert.equal((await service.store.segments.ofPrompt(tenant.prompt)).source, 'organisation')
  })

  test('text delivery is turned on, and prompts are excluded from it', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    const visitor = await suite.visit(t, { at: '/settings', key: tenant.key })
    const { page } = visitor
    const delivery = page.getByRole('region', { name: 'Text delivery' })
    const save = delivery.getByRole('button', { name: 'Save text delivery' })
    const stored = () => service.store.liveTexts.settings(tenant.organisation.id)
    assert.equal(await save.isDisabled(), true)
    await delivery.getByLabel('Deliver texts to applications').check()
    await delivery.getByLabel('Never deliver').fill('internal/**\n\n drafts/* ')
    await save.click()
    await delivery.getByText('Saved.').waitFor()
    assert.deepEqual(await stored(), { enabled: true, excluded: ['internal/**', 'drafts/*'] })
    visitor.expectErrors('422 PATCH /api/v1/delivery/settings')
    await delivery.getByLabel('Never deliver').fill('*a'.repeat(11))
    await save.click()
    await delivery
      .getByRole('alert')
      .filter({ hasText: /^Never deliver must have at most 10 wildcards/ })
      .waitFor()
    await delivery.getByLabel('Never deliver').fill('')
    await delivery.getByLabel('Deliver texts to applications').uncheck()
    await delivery.getByText('Running trials end.').waitFor()
    await save.click()
    await delivery.getByText('Saved.').waitFor()
    assert.deepEqual(await stored(), { enabled: false, excluded: [] })
  })

  test('an evaluation whose scores are rejected gets a threshold, and its next score is recorded', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    const score = async (name: string, value: number) => {
      const attributes = Object.entries({
        'gen_ai.prompt.name': tenant.prompt.publicId,
        'gen_ai.evaluation.name': name,
      })
        .map(([key, stringValue]): object => ({ key, value: { stringValue } }))
        .concat({ key: 'gen_ai.evaluation.score.value', value: { doubleValue: value } })
      const logRecords = [{ eventName: 'gen_ai.evaluation.result', timeUnixNano: `${service.now}000000`, attributes }]
      const response = await fetch(`${suite.address}/v1/logs`, {
        method: 'POST',
        headers: { authorization: `Bearer ${tenant.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] }),
      })
      return (await response.json()) as object
    }
    assert.match(JSON.stringify(await score('Relevance <b>', 3)), /rejectedLogRecords/)
    const visitor = await suite.visit(t, { at: '/settings', key: tenant.key })
    const { page } = visitor
    const telemetry = page.getByRole('region', { name: 'OpenTelemetry' })
    const save = telemetry.getByRole('button', { name: 'Save evaluations' })
    await telemetry.getByText('Scores of Relevance <b> are rejected.').waitFor()
    assert.equal(await save.isDisabled(), true)
    await telemetry.getByRole('button', { name: 'Set a threshold' }).click()
    const relevance = telemetry.getByRole('group', { name: 'Evaluation Relevance <b>' })
    await relevance.getByLabel('Comes from').selectOption('A judge')
    await relevance.getByLabel('Positive from').fill('2.5')
    await telemetry.getByRole('button', { name: 'Add evaluation' }).click()
    const other = telemetry.getByRole('group').last()
    await other.getByLabel('Name').fill('Relevance <b>')
    visitor.expectErrors('422 PUT /api/v1/evaluations')
    await save.click()
    await telemetry
      .getByRole('alert')
      .filter({ hasText: /^Name must not occur twice/ })
      .waitFor()
    await other.getByLabel('Name').fill('Tests')
    await save.click()
    await telemetry.getByText('Saved.').waitFor()
    const stored = () => service.store.telemetry.rules(tenant.organisation.id)
    const rule = { name: 'Relevance <b>', source: 'judge', threshold: 2.5 }
    assert.deepEqual(await stored(), [rule, { name: 'Tests', source: null, threshold: null }])
    assert.deepEqual(await score('Relevance <b>', 3), {})
    await telemetry.getByRole('group').last().getByRole('button', { name: 'Remove' }).click()
    await save.click()
    await telemetry.getByText('Saved.').waitFor()
    assert.deepEqual(await stored(), [rule])
    await page.reload()
    assert.equal(await relevance.getByLabel('Positive from').inputValue(), '2.5')
  })

  test('on a phone, long names, thresholds and tables stay within 390 px, and everything can be tapped', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    const long = 'Relevance_of_the_answer_'.repeat(8)
    const rules = [{ name: long, source: 'judge', threshold: 2.5 }] as const
    await service.store.organisations.rename(tenant.organisation.id, 'W'.repeat(200), service.now, operator)
    await service.store.telemetry.setRules(tenant.organisation.id, [...rules], service.now, operator)
    const viewport = { width: 390, height: 844 }
    const { page } = await suite.visit(t, {
      at: '/settings',
      key: tenant.key,
      viewport,
      hasTouch: true,
      isMobile: true,
    })
    await page.getByRole('group', { name: `Evaluation ${long}` }).waitFor()
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390)
    const narrow = await page.locator('#main button:visible').evaluateAll((buttons) =>
      buttons.flatMap((button) => {
        const { left, right, height } = button.getBoundingClientRect()
        return left < 0 || right > 390 || height < 24 ? [button.textContent] : []
      }),
    )
    assert.deepEqual(narrow, [])
  })

  test('signals are erased only after their number is shown and confirmed', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    for (const voter of ['Ada', 'Ada', 'Grace']) await tenant.signal({ value: 'positive', voter, metadata: { n: 1 } })
    const visitor = await suite.visit(t, { at: '/settings', key: tenant.key })
    const { page } = visitor
    const erase = page.getByRole('region', { name: 'Erase signals' })
    const count = erase.getByRole('button', { name: 'Count matching signals' })
    const stored = async () => {
      const { pagination } = await (
        await suite.request(tenant.key, `/prompts/${tenant.prompt.publicId}/signals`)
      ).json()
      return pagination.total_count
    }
    await erase.getByLabel('Voter', { exact: true }).fill('Alan')
    await count.click()
    await erase.getByText('No signal matches. Nothing was erased.').waitFor()
    await erase.getByLabel('Voter', { exact: true }).fill('Ada')
    await count.click()
    const dialog = page.getByRole('dialog', { name: 'Erase 2 signals?' })
    await dialog.getByText('This cannot be undone.').waitFor()
    await dialog.getByText('Voter Ada').waitFor()
    // Cancel has the focus.
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    assert.equal(await stored(), 3)
    await count.click()
    await dialog.getByRole('button', { name: 'Erase 2 signals' }).click()
    await erase.getByText('2 signals erased. Existing backups still contain them').waitFor()
    assert.equal(await stored(), 1)

    await erase.getByRole('button', { name: 'Metadata' }).click()
    await erase.getByLabel('Metadata').fill('{"n": ')
    await count.click()
    await erase.getByRole('alert').filter({ hasText: 'Metadata must be a JSON object' }).waitFor()
    await erase.getByLabel('Metadata').fill('{"n": 12345678901234567890}')
    await count.click()
    await erase.getByRole('alert').filter({ hasText: 'more than 15 digits' }).waitFor()
    await erase.getByLabel('Metadata').fill('{"n": 1}')
    await count.click()
    await page.getByRole('dialog', { name: 'Erase 1 signal?' }).getByRole('button', { name: 'Erase 1 signal' }).click()
    await erase.getByText('1 signal erased.').waitFor()
    assert.equal(await stored(), 0)
  })
})
