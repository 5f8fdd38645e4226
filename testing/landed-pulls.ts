import { bob, GitRepository, web } from './git-repository.ts'

export interface LandedPulls {
  git: GitRepository
  /** The commits by what they are. */
  commits: Record<
    'start' | 'merge' | 'squash' | 'rebaseFirst' | 'rebaseLast' | 'mention' | 'foxtrot' | 'direct',
    string
  >
}

/**
 * A repository of GitHub with every way in which a pull request lands (7 as a merge, 8 squashed, 9 rebased), a commit that only
 * mentions one, and a merge of the default branch into local work.
 */
export function repositoryWithLandedPulls(): LandedPulls {
  const git = new GitRepository()
  const start = git.commit('Start', { 'prompts/p.md': 'Be kind.\n', 'prompts/q.md': 'Be brief.\n' })

  git.switchTo('merged', 'main')
  git.commit('Be kinder', { 'prompts/p.md': 'Be kinder.\n' }, { author: bob })
  git.switchTo('main')
  const merge = git.merge('merged', 'Merge pull request #7 from bob/merged', { committer: web })

  git.switchTo('squashed', 'main')
  git.commit('Be brief', { 'prompts/q.md': 'Be very brief.\n' }, { author: bob })
  git.switchTo('main')
  git.commit('Add notes', { 'notes.txt': 'Notes\n' })
  const squash = git.squash('squashed', 'Be brief (#8)', { author: bob, committer: web })

  git.switchTo('rebased', 'main')
  git.commit('Greet', { 'prompts/p.md': 'Be kinder. Greet.\n' }, { author: bob })
  git.commit('Thank', { 'prompts/q.md': 'Be very brief. Thank.\n' }, { author: bob })
  git.switchTo('main')
  git.commit('Add more notes', { 'notes.txt': 'More notes\n' })
  const [rebaseFirst = '', rebaseLast = ''] = git.rebase('rebased')

  const mention = git.commit('Follow up on the merge (#7)', { 'prompts/p.md': 'Be kinder. Greet them.\n' })

  // Bob works on his own copy of main, merges what Ada pushed meanwhile, and pushes the result.
  git.switchTo('local', 'main')
  git.commit('Local work', { 'prompts/q.md': 'Be very brief. Thank them.\n' }, { author: bob, committer: bob })
  git.switchTo('main')
  const direct = git.commit('Direct', { 'prompts/p.md': 'Be kinder. Greet all.\n' })
  git.switchTo('local')
  const foxtrot = git.merge('main', "Merge remote-tracking branch 'origin/main'", { author: bob, committer: bob })
  git.switchTo('main', 'local')

  const heads = { merged: 7, squashed: 8, rebased: 9 }
  git.push('main', ...Object.entries(heads).map(([branch, number]) => `${branch}:refs/pull/${number}/head`))
  return { git, commits: { start, merge, squash, rebaseFirst, rebaseLast, mention, foxtrot, direct } }
}
