import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sqlite } from '../../testing/engines.ts'
import { GitRepository } from '../../testing/git-repository.ts'
import { NotFoundError, ValidationError } from '../src/index.ts'
import { useLiveService } from './live-service.ts'

describe('Prompts by name', () => {
  const service = useLiveService(sqlite)

  test('calls take the ID, the name or the path of a prompt, whatever characters it has', async () => {
    const ledger = service.ledger(await service.tenant('free', 'admin'))
    for (const name of [
      'prompts/support.md',
      '/sample/welcome.md',
      'Größe 100% & co? #1',
      'a b+c',
      '../x',
      '...',
      '👍',
    ]) {
      const { id } = await ledger.prompts.create({ name })
      assert.equal((await ledger.prompts.get(name)).id, id)
      await ledger.signals.create(name, { value: 'positive' })
      assert.deepEqual(await ledger.signals.list(name), await ledger.signals.list(id))
      assert.equal((await ledger.signals.list(id)).pagination.total_count, 1)
    }
    const git = new GitRepository()
    git.commit('Start', { 'prompts/a & b.md': 'Be kind.\n' })
    git.push()
    const { prompts } = await ledger.repositories.connect({ forge: 'github', url: git.remote, path: 'prompts/**' })
    await ledger.prompts.rename('prompts/a & b.md', { name: 'Kindness' })
    assert.equal((await ledger.prompts.get('prompts/a & b.md')).id, prompts[0]?.id)
    assert.equal((await ledger.prompts.get('Kindness')).id, prompts[0]?.id)
    await assert.rejects(ledger.prompts.get('kindness'), NotFoundError)
  })

  test('a name that several prompts have fails with their IDs', async () => {
    const ledger = service.ledger(await service.tenant('free', 'admin'))
    const { id } = await ledger.prompts.create({ name: 'prompts/p.md' })
    const git = new GitRepository()
    git.commit('Start', { 'prompts/p.md': 'Be kind.\n' })
    git.push()
    const { prompts } = await ledger.repositories.connect({ forge: 'github', url: git.remote, path: 'prompts/**' })
    await assert.rejects(ledger.signals.create('prompts/p.md', { value: 'positive' }), (error) => {
      assert.ok(error instanceof ValidationError)
      assert.deepEqual(new Set(error.details.prompt_ids as string[]), new Set([id, prompts[0]?.id]))
      return true
    })
  })
})
