import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sqlite } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { TestService } from '../../../testing/service.ts'

/** A service whose messages are kept, and whose people may join by themselves. */
async function open() {
  const service = new TestService()
  const sent: { text: string }[] = []
  service.signIn = {
    ...service.signIn,
    rules: { domains: ['corp.example'], defaultRole: 'member', groups: null },
    sendMail: async (mail) => {
      sent.push(mail)
    },
  }
  await service.open(sqlite)
  const tenant = await service.tenant('free', 'admin')
  const own = { 'sec-fetch-site': 'same-origin' }
  const call = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, headers: object, payload?: object) =>
    service.app.inject({ method, url: `/api/v1/${url}`, headers: { ...own, ...headers }, ...(payload && { payload }) })
  async function signIn(email: string, invitation: string | null = null) {
    const before = sent.length
    const asked = await call('POST', 'sign-in/email', {}, { email, invitation })
    assert.equal(asked.statusCode, 202, asked.body)
    const { text } = await eventually(() => sent[before] ?? assert.fail('no message'))
    const [token] = /pll_[\w-]+/.exec(text) ?? []
    const response = await call('POST', 'sign-in/link', {}, { token })
    const cookie = String(response.headers['set-cookie'] ?? '').split(';')[0] ?? ''
    return { status: response.statusCode, body: response.json(), headers: { cookie } }
  }
  const invite = async (headers: object, payload: object) =>
    (await call('POST', 'invitations', headers, payload)).json().data
  const personOf = async (email: string) =>
    (await call('GET', 'people', tenant.headers)).json().data.find((each: { email: string }) => each.email === email)
  return { service, tenant, call, signIn, invite, personOf }
}

test('an invitation ends with the key that created it', async () => {
  const { tenant, call, signIn, invite } = await open()
  const made = (await call('POST', 'keys', tenant.headers, { name: 'leaked', role: 'admin' })).json().data
  const { url } = await invite({ authorization: `Bearer ${made.key}` }, { role: 'admin' })
  await call('DELETE', `keys/${made.id}`, tenant.headers)
  const { status, body } = await signIn('eve@corp.example', url.split('#')[1])
  assert.equal(status, 409, JSON.stringify(body))
  assert.equal((await call('GET', 'invitations', tenant.headers)).json().data.length, 0)
})

test('invitations and share links end with the person or the role that created them, and enabling brings back neither', async () => {
  const { tenant, call, signIn, invite, personOf } = await open()
  const admin = await signIn('ada@corp.example', (await invite(tenant.headers, { role: 'admin' })).url.split('#')[1])
  assert.equal(admin.status, 201)
  const token = (await invite(admin.headers, { role: 'admin' })).url.split('#')[1]
  const shared = await call('POST', `prompts/${tenant.prompt.publicId}/shares`, admin.headers, {})
  const share = { authorization: `Bearer ${shared.json().data.url.split('#')[1]}` }
  assert.equal((await call('GET', 'shared', share)).statusCode, 200)
  const { id } = await personOf('ada@corp.example')
  await call('PATCH', `people/${id}`, tenant.headers, { disabled: true })
  assert.equal((await call('GET', 'shared', share)).statusCode, 401)
  assert.equal((await signIn('eve@corp.example', token)).status, 409)
  await call('PATCH', `people/${id}`, tenant.headers, { disabled: false })
  assert.equal((await call('GET', 'shared', share)).statusCode, 401)
  assert.equal((await signIn('eve@corp.example', token)).status, 409)
  const again = await signIn('bob@corp.example', (await invite(tenant.headers, { role: 'admin' })).url.split('#')[1])
  const second = (await invite(again.headers, { role: 'admin' })).url.split('#')[1]
  const bob = await personOf('bob@corp.example')
  await call('PATCH', `people/${bob.id}`, tenant.headers, { role: 'viewer' })
  assert.equal((await signIn('eve@corp.example', second)).status, 409)
})

test('a mailbox gets five invitations an hour at most, and the admin has the others', async () => {
  const { tenant, invite } = await open()
  const mailed: boolean[] = []
  for (let i = 0; i < 7; i++) {
    mailed.push((await invite(tenant.headers, { email: `victim+${i}@elsewhere.test` })).is_mailed)
  }
  assert.deepEqual(mailed, [true, true, true, true, true, false, false])
})

test('a disabled person cannot join again by another spelling of their address', async () => {
  const { tenant, call, signIn, personOf } = await open()
  assert.equal((await signIn('eve@corp.example')).status, 201)
  const { id } = await personOf('eve@corp.example')
  await call('PATCH', `people/${id}`, tenant.headers, { disabled: true })
  assert.equal((await signIn('eve+2@corp.example')).status, 409)
})
