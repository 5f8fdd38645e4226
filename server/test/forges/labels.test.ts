import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shareOfLabels } from '../../src/domain/trials/label.ts'
import { apiOf, forgeOf } from '../../src/forges/index.ts'
import { at, head, pullDelivery, readDelivery } from './read-delivery.ts'

const ours = 'promptledger: 10%'

for (const name of ['github', 'gitlab', 'gitea', 'forgejo'] as const) {
  test(`a label of ${forgeOf(name).title} that asks for a trial is reported with who set it, and so is its removal`, () => {
    const label = (before: string[], after: string[]) =>
      readDelivery(name, pullDelivery(name, { action: 'labeled', actor: 'grace', labels: { before, after } })).events
    const report = (share: number | null) => [
      { type: 'label', label: { prNumber: 12, share, head, actor: 'grace', changedAt: Date.parse(at) } },
    ]
    assert.deepEqual(label(['bug'], ['bug', ours]), report(0.1))
    assert.deepEqual(label([ours, 'bug'], ['bug']), report(null))
    assert.deepEqual(label([ours], []), report(null))
    // Gitea does not say which label was changed, so the store compares.
    const isSilent = name === 'github' || name === 'gitlab'
    assert.deepEqual(label([ours], ['bug', ours]), isSilent ? [] : report(0.1))
    assert.deepEqual(label([], ['bug']), isSilent ? [] : report(null))
  })
}

test('labels name a share from 0% to 100%, and of several the smallest counts', () => {
  assert.equal(shareOfLabels(['bug', 'Promptledger:2.5 %', ours]), 0.025)
  for (const other of ['promptledger: 101%', 'promptledger: ten%', 'promptledger', 'my promptledger: 10%', '10%']) {
    assert.equal(shareOfLabels([other]), null, other)
  }
})

test('only people who may write to the repository count, by what each forge says', () => {
  const permission = (value: string) => ({ permission: value, role_name: value, user: { login: 'grace' } })
  for (const [forge, roles] of [
    ['github', { admin: true, write: true, read: false, none: false }],
    ['gitea', { owner: true, admin: true, write: true, read: false, none: false }],
  ] as const) {
    const { readAccess, canWrite } = apiOf(forge)
    assert.equal(readAccess('https://x/r', 'a/b')?.url, 'https://x/r/collaborators/a%2Fb/permission')
    for (const [role, expected] of Object.entries(roles)) {
      assert.equal(canWrite(permission(role), 'grace'), expected, `${forge} ${role}`)
    }
  }
  const { readAccess, canWrite } = apiOf('gitlab')
  assert.equal(readAccess('https://x/r', 'a&b')?.url, 'https://x/r/members/all?query=a%26b&per_page=100')
  const member = (username: string, access_level: number, state = 'active') => ({
    id: 1,
    username,
    state,
    access_level,
  })
  assert.equal(canWrite([member('gracey', 50), member('grace', 30)], 'grace'), true)
  assert.equal(canWrite([member('gracey', 50), member('grace', 20)], 'grace'), false)
  assert.equal(canWrite([member('grace', 50, 'blocked')], 'grace'), false)
  assert.equal(apiOf('bitbucket').readAccess('https://x/r', 'grace'), null)
  for (const body of [null, undefined, 'write', [], {}, { permission: { write: true } }]) {
    for (const forge of ['github', 'gitlab', 'gitea', 'bitbucket'] as const) {
      assert.equal(apiOf(forge).canWrite(body, 'grace'), false)
    }
  }
})
