import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operator } from '../../server/src/domain/access/audit.ts'
import type { SignalDetails, SignalValue } from '../../server/src/domain/signals/signal.ts'
import { postDeployment } from '../../testing/deployments.ts'
import { eventually } from '../../testing/eventually.ts'
import type { Tenant } from '../../testing/service.ts'
import { inBatches, noDetails, signalFor } from '../../testing/signals.ts'
import { checkAccessibility, looks } from './support/accessibility.ts'
import { inBrowser } from './support/browser.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const [first, second] = ['a1'.repeat(20), 'b2'.repeat(20)] as const

inBrowser('The evidence of a change', (suite) => {
  const { service } = suite

  type Sent = Partial<SignalDetails> & { value: SignalValue; daysAgo: number; model?: string }

  async function send(tenant: Tenant, sent: Sent[]): Promise<void> {
    const signals = sent.map(({ value, daysAgo, model, ...details }) =>
      signalFor(tenant, {
        value,
        createdAt: Math.round(service.now - daysAgo * dayMs),
        metadata: model === undefined ? null : JSON.stringify({ model }),
        details: { ...noDetails, ...details },
      }),
    )
    await service.store.signals.import(inBatches(signals))
  }

  /** Of `positive` and `negative` signals of a model, spread over ten days. */
  function votes(from: number, model: string, positive: number, negative: number): Sent[] {
    const total = positive + negative
    return Array.from({ length: total }, (_, i) => ({
      value: (i * positive) % total < positive ? 'positive' : 'negative',
      daysAgo: from - (10 * i) / total,
      model,
    }))
  }

  /** A prompt with a change 30 days ago, and one 15 days ago. */
  async function changed() {
    const tenant = await service.tenant('business', 'admin')
    const one = await tenant.recordEntry({ commitSha: first, createdAt: service.now - 30 * dayMs })
    const two = await tenant.recordEntry({ commitSha: second, createdAt: service.now - 15 * dayMs })
    return { tenant, one, two, at: `/prompts/${tenant.prompt.publicId}` }
  }

  test('a change shows its newest negative comments, as text, with a link to all of them', async (t) => {
    const { tenant, two, at } = await changed()
    await send(tenant, [
      { value: 'negative', daysAgo: 20, comment: 'before the change' },
      { value: 'positive', daysAgo: 1, comment: 'praise' },
      ...Array.from({ length: 7 }, (_, i): Sent => ({ value: 'negative', daysAgo: 10 - i, comment: `complaint ${i}` })),
      { value: 'negative', daysAgo: 1, comment: '<b>bold</b> \u202e' },
    ])
    const visitor = await suite.visit(t, { at: `${at}?entry=${two.id}`, key: tenant.key })
    const { page } = visitor
    const comments = page.getByRole('region', { name: 'Newest negative comments' })
    await comments.getByRole('listitem').first().waitFor()
    assert.deepEqual(await comments.locator('blockquote').allInnerTexts(), [
      '<b>bold</b> ⟦U+202E RLO⟧',
      'complaint 6',
      'complaint 5',
      'complaint 4',
      'complaint 3',
    ])
    await comments.getByRole('link', { name: 'All negative comments' }).click()
    await eventually(async () => assert.equal(await page.locator('tbody tr').count(), 8))
    assert.equal(visitor.path, `${at}/signals?change=${two.id}&side=after&value=negative&comment=any`)
  })

  test('a change is broken down by a declared key, and its figures lead to the signals of the segment', async (t) => {
    const { tenant, two, at } = await changed()
    await service.store.segments.setForOrganisation(tenant.organisation.id, ['model', 'locale'], service.now, operator)
    await send(tenant, [
      ...votes(29, 'large', 180, 20),
      ...votes(29, 'small', 90, 10),
      ...votes(14, 'large', 180, 20),
      ...votes(14, 'small', 30, 70),
      { value: 'positive', daysAgo: 2 },
    ])
    const visitor = await suite.visit(t, { at: `${at}?entry=${two.id}`, key: tenant.key })
    const { page } = visitor
    const segments = page.getByRole('region', { name: 'Effect by segment' })
    await segments.getByRole('button', { name: 'model' }).click()
    await eventually(() => assert.match(visitor.path, /&by=model$/))
    const row = (name: string) => segments.getByRole('row').filter({ has: page.getByRole('rowheader', { name }) })
    await row('small').waitFor()
    assert.match(await row('small').innerText(), /90% of 100\s+30% of 100\s+−60\s+Worse/)
    assert.match(
      await row('large').innerText(),
      /90% of 200\s+90% of 200\s+0\s+(No clear difference|Not enough data yet)/,
    )
    await row('No value').waitFor()
    await segments.getByText(/Within segments, the share moved by −\d/).waitFor()
    await row('small').locator('summary').click()
    await segments
      .getByText(/30% of 100/)
      .last()
      .waitFor()
    for (const { width, theme } of looks) {
      await page.setViewportSize({ width, height: 800 })
      await checkAccessibility(page, `segments at ${width} px`, [theme])
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width)
    }
    await page.reload()
    await row('small').getByRole('link', { name: '100' }).last().click()
    await page.getByText('model: small').waitFor()
    await eventually(async () => assert.equal(await page.locator('tbody tr').count(), 25))
    assert.equal(visitor.path, `${at}/signals?change=${two.id}&side=after&metadata.model=small`)
    await page.goBack()
    await segments.getByRole('button', { name: 'model' }).click()
    await row('small').waitFor({ state: 'detached' })
    await page.goBack()
    await row('small').waitFor()
  })

  test('without a declared key, segments say how to declare one', async (t) => {
    const { tenant, two, at } = await changed()
    const { page } = await suite.visit(t, { at: `${at}?entry=${two.id}`, key: tenant.key })
    const segments = page.getByRole('region', { name: 'Effect by segment' })
    await segments.getByText('declare a key of your signals’ metadata in Settings').waitFor()
    assert.equal(await segments.getByRole('link', { name: 'Settings' }).getAttribute('href'), '/settings')
  })

  test('versions that are live at the same time are beside each other, with their share, range and signals', async (t) => {
    const { tenant, one, two, at } = await changed()
    const visitor = await suite.visit(t, { at, key: tenant.key })
    const { page } = visitor
    const live = page.getByRole('region', { name: 'Live at the same time' })
    await page.getByRole('heading', { level: 1 }).waitFor()
    const path = `/prompts/${tenant.prompt.publicId}`
    for (const [sha, daysAgo, share] of [
      [first, 30, 1],
      [second, 10, 0.2],
    ] as const) {
      const body = { commit_sha: sha, at: new Date(service.now - daysAgo * dayMs).toISOString(), share }
      assert.equal((await postDeployment(service, tenant, path, body)).statusCode, 201)
    }
    const of = (version: string, positive: number, negative: number) =>
      votes(12, 'any', positive, negative).map((vote) => ({ ...vote, daysAgo: vote.daysAgo / 2, version }))
    await send(tenant, [...of(first, 80, 20), ...of(second, 10, 10)])
    assert.equal(await live.count(), 0)
    await page.reload()
    const rows = live.locator('tbody tr')
    await eventually(async () =>
      assert.deepEqual(
        (await rows.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ').trim()),
        [
          'a1a1a1a by Ada Lovelace Show 80% 80% 95% confidence range: 71% to 87% 100',
          'b2b2b2b by Ada Lovelace Show 20% 50% 95% confidence range: 30% to 70% 20',
        ],
      ),
    )
    await checkAccessibility(page, 'live versions')
    await rows.nth(1).getByRole('link', { name: '20', exact: true }).click()
    await eventually(async () => assert.equal(await page.locator('tbody tr').count(), 20))
    assert.equal(visitor.path, `${at}/signals?change=${two.id}&side=after`)
    await page.goBack()
    await rows.first().getByRole('link', { name: 'a1a1a1a' }).click()
    await eventually(() => assert.equal(visitor.path, `${at}?entry=${one.id}`))
  })
})
