import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { foreignReason, type ReportedRepository } from '../../src/domain/repositories/reported-repository.ts'

type Known = Parameters<typeof foreignReason>[0]

const reported: ReportedRepository = {
  id: '4711',
  fullName: 'acme/prompts',
  webUrl: 'https://git.example/acme/prompts',
}
const known: Known = { url: 'https://git.example/acme/prompts.git', webUrl: null, forgeId: null }

function isForeign(
  changes: Partial<typeof known> | { forgeId: string },
  other: Partial<typeof reported> | object = {},
) {
  return foreignReason({ ...known, ...changes }, { ...reported, ...other }) !== null
}

describe('The repository of a delivery', () => {
  test('every spelling of the connected URL is recognised, whatever the host', () => {
    for (const url of [
      'https://git.example/acme/prompts',
      'https://git.example/Acme/Prompts.git/',
      'https://internal:8443/acme/prompts.git',
      'git@git.example:acme/prompts.git',
      'ssh://git@git.example:2222/acme/prompts',
      'ssh://git@git.example/srv/acme/prompts.git',
    ]) {
      assert.ok(!isForeign({ url }), url)
      assert.ok(isForeign({ url }, { id: '1', fullName: 'acme/other', webUrl: 'https://git.example/acme/other' }), url)
    }
  })

  test('a forge below a path is recognised by its web page', () => {
    assert.ok(
      !isForeign({ url: 'https://a.example/git/acme/prompts' }, { webUrl: 'https://b.example/git/acme/prompts' }),
    )
  })

  test('a renamed or transferred repository is recognised by its ID, or by the page of an earlier delivery', () => {
    const moved = { fullName: 'team/renamed', webUrl: 'https://git.example/team/renamed' }
    assert.ok(isForeign({}, moved))
    assert.ok(!isForeign({ forgeId: '4711' }, moved))
    assert.ok(!isForeign({ webUrl: 'https://git.example/team/renamed' }, moved))
    assert.ok(isForeign({ forgeId: '1' }, moved))
  })

  test('a repository that was deleted and created again is the one at the connected URL', () => {
    assert.ok(!isForeign({ forgeId: '1' }))
  })

  test('a repository whose name ends like the connected one is another one once the ID is known', () => {
    const url = 'https://git.example/acme/sub/prompts.git'
    const other = { id: '1', fullName: 'sub/prompts', webUrl: 'https://git.example/sub/prompts' }
    assert.ok(isForeign({ url, forgeId: '4711' }, other))
  })

  test('a folder on this machine belongs to the first repository that reports to it', () => {
    assert.ok(!isForeign({ url: '/srv/git/mirror.git' }))
    assert.ok(isForeign({ url: '/srv/git/mirror.git', forgeId: '1' }))
  })

  test('a delivery that does not name its repository is not about another one', () => {
    assert.ok(!isForeign({ forgeId: '1' }, { id: null, fullName: null, webUrl: null }))
  })

  test('the reason names both repositories and what to do', () => {
    const reason = foreignReason(known, { id: '1', fullName: 'acme/other', webUrl: null })
    assert.match(reason as string, /about acme\/other, not about acme\/prompts\..*renamed.*redeliver$/)
  })
})
