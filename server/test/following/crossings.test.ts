import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onOneEngine } from '../../../testing/engines.ts'
import { bob, type GitRepository } from '../../../testing/git-repository.ts'
import { queryRows } from '../../../testing/rows.ts'
import { connectedScenario, type Entry, shortSha } from '../../../testing/scenario.ts'
import { useService } from '../../../testing/service.ts'
import { mirrorOf } from '../../src/follow/sync-context.ts'
import { removeMirror } from '../../src/git/mirror.ts'
import { commitPull } from './pull-branch.ts'

const p = 'prompts/p.md'
const q = 'prompts/q.md'

onOneEngine('Merges of the default branch into local work', (engine) => {
  const service = useService(engine)

  /** Pushes local work after a merge of the default branch into it. */
  function pullAndPush(git: GitRepository, message: string): string {
    const merge = git.merge('main', message)
    git.push('mine:main')
    git.switchTo('main', 'mine')
    return merge
  }

  test('a pull request that landed before one is recorded with its own merge, not with that one', async () => {
    const s = await connectedScenario(service)
    s.git.switchTo('mine', 'main')
    s.git.commit('My work', { [q]: 'mine\n' })
    s.git.switchTo('main')
    const head = commitPull(s, 7, { [p]: '7\n' })
    const landing = s.git.merge('pull-7', 'Merge pull request #7 from acme/pull-7')
    s.git.switchTo('mine')
    const merge = pullAndPush(s.git, "Merge branch 'main' of example.com:acme/prompts into main")
    await s.deliver(
      s.forge.pull({ action: 'opened', number: 7, head }),
      s.forge.pull({ action: 'merged', number: 7, head, mergeCommit: landing }),
      s.forge.push({ before: landing, after: merge }),
    )
    await s.advance(11)
    assert.ok((await s.summary()).includes(`pr_merged ${shortSha(landing)} #7`))
    assert.deepEqual((await s.summary(q)).slice(1), [`deployed ${shortSha(merge)}`])
  })

  test('a backfill records the same entries as following did, before and after the mirror is lost', async () => {
    const s = await connectedScenario(service)
    for (const message of ["Merge remote-tracking branch 'origin/main' into main", "Merge branch 'master' into mine"]) {
      s.git.switchTo('mine', 'main')
      s.git.commit('My work', { [q]: `${message}\n` })
      s.git.switchTo('main')
      s.git.commit('Direct', { [p]: `${message}\n` }, { author: bob })
      await s.push()
      s.git.switchTo('mine')
      pullAndPush(s.git, message)
      await s.push()
      await s.advance(11)
    }
    const facts = (entries: Entry[]) => entries.map(({ id, ...facts }) => facts)
    const followed = [facts(await s.history(p)), facts(await s.history(q))]
    assert.deepEqual(
      followed.map(({ length }) => length),
      [3, 3],
    )
    await removeMirror(mirrorOf(service.syncContext, s.repository).path)
    await queryRows(service.url, `update repositories set tip = null where id = ${s.repository.id}`)
    await s.advance(3_600)
    assert.deepEqual([facts(await s.history(p)), facts(await s.history(q))], followed)
    const fresh = await connectedScenario(service, {
      prepare(git) {
        git.git('fetch', '--quiet', s.git.remote, 'main')
        git.git('push', '--quiet', git.remote, 'FETCH_HEAD:refs/heads/main')
      },
    })
    const withoutActor = (await fresh.history(p)).map(({ commit_sha }) => commit_sha)
    assert.deepEqual(
      withoutActor,
      (await s.history(p)).map(({ commit_sha }) => commit_sha),
    )
  })

  test('in a folder, the URL that the clone came from is that of the repository itself', async () => {
    for (const [origin, isOwn] of [
      ['https://github.com/acme/prompts.git', true],
      ['https://github.com/acme/other.git', false],
    ] as const) {
      let shared = ''
      const s = await connectedScenario(service, {
        prepare(git) {
          git.git('-C', git.remote, 'config', 'remote.origin.url', origin)
          git.commit('Start', { [p]: '1\n', [q]: '1\n' })
          git.switchTo('mine', 'main')
          git.commit('My work', { [q]: 'mine\n' })
          git.switchTo('main')
          shared = git.commit('Theirs', { [p]: 'theirs\n' })
          git.switchTo('mine')
          pullAndPush(git, "Merge branch 'main' of github.com:acme/prompts into main")
        },
      })
      assert.equal((await s.summary()).includes(`deployed ${shortSha(shared)}`), isOwn, origin)
    }
  })

  test("a GitLab merge request from a fork's default branch hides nothing of the repository's own", async () => {
    let merge = ''
    let own = ''
    const s = await connectedScenario(service, {
      forge: 'gitlab',
      prepare(git) {
        git.commit('Start', { [p]: '1\n', [q]: '1\n' })
        git.switchTo('fork', 'main')
        git.commit('Fork', { [q]: 'fork\n' }, { author: bob })
        git.switchTo('main')
        own = git.commit('Own', { [p]: 'own\n' })
        merge = git.merge('fork', "Merge branch 'main' into 'main'\n\nKinder\n\nSee merge request acme/prompts!7")
        git.push()
      },
    })
    assert.deepEqual((await s.summary()).slice(1), [`deployed ${shortSha(own)}`])
    assert.deepEqual((await s.summary(q)).slice(1), [`pr_merged ${shortSha(merge)} #7`])
  })
})
