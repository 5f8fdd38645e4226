import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onOneEngine } from '../../../testing/engines.ts'
import type { Delivery, ForgeName } from '../../../testing/payloads/facts.ts'
import { connectedScenario, type Scenario, shortSha } from '../../../testing/scenario.ts'
import { useService } from '../../../testing/service.ts'
import { commitPull } from './pull-branch.ts'
import { deliveriesOf, newPush } from './push-delivery.ts'

/** The same delivery about another repository, as an organisation's webhook sends it. */
function fromOther(s: Scenario, { headers, body }: Delivery): Delivery {
  const text = body
    .toString()
    .replaceAll('acme/prompts', 'acme/other')
    .replaceAll('4711', '815')
    .replaceAll('"default_branch":"main"', '"default_branch":"trunk"')
  const event = Object.entries(headers).find(([name]) => /event(-key)?$/.test(name))?.[1] as string
  return s.forge.signed(event, Buffer.from(text))
}

onOneEngine('Deliveries of other repositories', (engine) => {
  const service = useService(engine)

  for (const forge of ['github', 'gitlab', 'gitea', 'forgejo', 'bitbucket'] as ForgeName[]) {
    test(`${forge}: deliveries of another repository are ignored, and say why`, async () => {
      const s = await connectedScenario(service, { forge })
      await s.deliver(s.forge.ping())
      const head = commitPull(s, 7, { 'prompts/p.md': '1\n' })
      const opened = s.forge.pull({ action: 'opened', number: 7, head, headBranch: 'pull-7' })
      await s.deliver(fromOther(s, opened), fromOther(s, newPush(s)))
      const [push, pull] = await deliveriesOf(s)
      for (const delivery of [push, pull]) {
        assert.equal(delivery?.state, 'ignored')
        assert.match(delivery?.error as string, /^this delivery is about acme\/other, not about /)
      }
      assert.equal((await s.history()).length, 1)
      assert.equal(s.repository.defaultBranch, 'main')
      // The repository's own deliveries still count.
      await s.deliver(opened)
      assert.deepEqual((await s.summary()).at(-1), `pr_opened ${shortSha(head)} #7`)
    })
  }

  test('a ping of an organisation, which names no repository, does not decide which one it is', async () => {
    const s = await connectedScenario(service)
    await s.deliver(s.forge.signed('ping', Buffer.from('{"zen":"x","organization":{"login":"acme"}}')))
    assert.equal(s.repository.forgeId, null)
    await s.deliver(newPush(s))
    assert.equal(s.repository.forgeId, '4711')
    assert.deepEqual(await s.deliveryStates(), ['done', 'ignored'])
  })

  test('a repository keeps its history when it is renamed or transferred', async () => {
    const s = await connectedScenario(service)
    await s.deliver(newPush(s))
    const { headers, body } = newPush(s)
    const renamed = body.toString().replaceAll('acme/prompts', 'team/renamed')
    await s.deliver(s.forge.signed(headers['x-github-event'] as string, Buffer.from(renamed)))
    assert.deepEqual(await s.deliveryStates(), ['done', 'done'])
    assert.equal(s.repository.webUrl, 'https://github.example/team/renamed')
    assert.equal((await s.history()).length, 3)
  })
})
