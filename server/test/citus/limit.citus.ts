import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createAccount } from '../../../testing/account.ts'
import { postgres } from '../../../testing/engines.ts'
import { serve } from '../../../testing/processes.ts'
import { queryRows } from '../../../testing/rows.ts'
import { openTestStore } from '../../../testing/service.ts'

const left = 50
const requests = 120

it('two services on one cluster record exactly as many signals as the monthly limit allows', async () => {
  const { url } = await postgres.create()
  const { organisationId, promptId, key, limit } = await createAccount(url, 'free')
  const store = await openTestStore(url)
  const prompt = await store.prompts.find(organisationId, promptId)
  const signal = { organisationId, promptId: prompt?.id as number, value: 'positive' as const, metadata: null }
  async function* batches() {
    yield Array.from({ length: limit - left }, () => ({ ...signal, createdAt: Date.now() }))
  }
  await store.signals.import(batches())

  const services = await Promise.all([serve(url), serve(url)])
  const send = async (number: number) => {
    const address = services[number % services.length]?.address
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    // Every second one is a vote, which takes another way through the service.
    const subject = number % 4 < 2 ? { subject: `answer-${number}` } : {}
    const body = JSON.stringify({ value: 'negative', ...subject })
    const path = `/api/v1/prompts/${promptId}/signals`
    return (await fetch(`${address}${path}`, { method: 'POST', headers, body })).status
  }
  const statuses = await Promise.all(Array.from({ length: requests }, (_, number) => send(number)))
  assert.equal(statuses.filter((status) => status === 201).length, left)
  assert.equal(statuses.filter((status) => status === 429).length, requests - left)
  const stored = await queryRows(url, `select count(*) as n from signals where organisation_id = ${organisationId}`)
  assert.equal(Number(stored[0]?.n), limit)
  for (const service of services) await service.stop()
})
