import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertError } from '../../../testing/assertions.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { deliveriesFrom } from '../../../testing/payloads/deliveries.ts'
import { connectedScenario, type Scenario } from '../../../testing/scenario.ts'
import { type Tenant, useService } from '../../../testing/service.ts'

const hour = 3_600_000

onOneEngine('POST rotate-secret', (engine) => {
  const service = useService(engine)

  function rotate({ repository }: Scenario, { headers }: Tenant, payload?: object) {
    const url = `/api/v1/repositories/${repository.id}/rotate-secret`
    return service.app.inject({ method: 'POST', url, headers, ...(payload && { payload }) })
  }

  test('a leaked webhook secret is rejected immediately with overlap_hours 0', async () => {
    const scenario = await connectedScenario(service)
    const response = await rotate(scenario, scenario.tenant, { overlap_hours: 0 })
    assert.equal(response.statusCode, 200)
    const { webhook_secret: secret, old_secret_until: until } = response.json().data
    assert.equal(Date.parse(until), service.now)
    assert.equal(await scenario.send(scenario.forge.ping()), 401)
    assert.equal(await scenario.send(deliveriesFrom('github', secret).ping()), 202)
  })

  test('the old webhook secret stays valid for overlap_hours, by default for a day', async () => {
    const scenario = await connectedScenario(service)
    for (const [body, hours] of [
      [{ overlap_hours: 3 }, 3],
      [{}, 24],
      [undefined, 24],
    ] as const) {
      const { data } = (await rotate(scenario, scenario.tenant, body)).json()
      assert.equal(Date.parse(data.old_secret_until), service.now + hours * hour)
    }
  })

  test('an overlap that is no number of hours up to a year is rejected, and the secret stays', async () => {
    const scenario = await connectedScenario(service)
    for (const overlap of [-1, 0.5, '0', null, 8_761]) {
      const response = await rotate(scenario, scenario.tenant, { overlap_hours: overlap })
      assertError(response, 422, 'validation_error')
      assert.match(response.json().error.message, /^overlap_hours must be /)
    }
    assert.equal(await scenario.send(scenario.forge.ping()), 202)
  })

  test('rotating the secret of another organisation is a 404, whatever the body', async () => {
    const [scenario, other] = [await connectedScenario(service), await service.tenant('free', 'admin')]
    assertError(await rotate(scenario, other, { overlap_hours: 0 }), 404, 'not_found')
    assertError(await rotate(scenario, other, { overlap_hours: -1 }), 404, 'not_found')
    assert.equal(await scenario.send(scenario.forge.ping()), 202)
  })
})
