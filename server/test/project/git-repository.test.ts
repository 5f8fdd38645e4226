import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bob, GitRepository, web } from '../../../testing/git-repository.ts'

/** Every kind of change that the tests make without git, on files that differ in folder, mode and content. */
function change(git: GitRepository): void {
  git.commit('Start', { 'prompts/p.md': 'a\n', 'prompts/deep/q.md': 'b\n', 'prompts.md': 'c\n', 'README.md': 'd\n' })
  git.switchTo('merged', 'main')
  git.commit('Title  \n\n\nBody\n', { 'prompts/p.md': 'Größe\n', 'new.md': Buffer.from([0, 255]) }, { author: bob })
  git.switchTo('squashed', 'main')
  git.commit('One', { 'prompts/deep/q.md': null })
  git.commit('Two', { 'prompts/deep/r.md': 'e\n' }, { at: '2026-04-01T10:00:00Z' })
  git.switchTo('rebased', 'main')
  git.commit('Three', { 'a.md': 'f\n' }, { author: bob, committer: web })
  git.commit('Four', { 'b.md': 'g\n' }, { author: bob })
  git.switchTo('main')
  git.commit('Meanwhile', { 'README.md': 'h\n' })
  git.merge('merged', 'Merge pull request #1', { committer: web })
  git.squash('squashed', 'Squash (#2)', { author: bob, committer: web })
  git.rebase('rebased', { committer: web })
  git.commit('Empty')
}

test('commits, merges, squashes and rebases without git are those that git makes', () => {
  const [written, made] = [new GitRepository(), new GitRepository()]
  // Then git makes every change.
  made.git('config', 'promptledger.test', 'true')
  for (const git of [written, made]) {
    change(git)
    git.push('main', 'merged', 'squashed', 'rebased')
  }
  const show = (git: GitRepository) => [
    git.git('log', '--all', '--format=%H %T %P %an %ae %at %cn %ct %B'),
    git.git('ls-files', '--stage'),
    git.git('status', '--porcelain'),
    git.git('for-each-ref', '--format=%(refname) %(objectname)'),
    git.inRemote('for-each-ref', '--format=%(refname) %(objectname)'),
    git.git('fsck', '--strict', '--no-dangling'),
  ]
  assert.deepEqual(show(written), show(made))
  assert.match(show(written)[0] ?? '', /Four/)
})
