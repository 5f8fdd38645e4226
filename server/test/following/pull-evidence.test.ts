import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onOneEngine } from '../../../testing/engines.ts'
import { ada, bob, type CommitFacts, type GitRepository, web } from '../../../testing/git-repository.ts'
import { connectedScenario, type ScenarioOptions, shortSha } from '../../../testing/scenario.ts'
import { useService } from '../../../testing/service.ts'
import { gitRuns } from '../../src/git/run.ts'

const p = 'prompts/p.md'
const eve = { name: 'Eve', email: 'eve@example.com' }

/** Commits each of these texts of the prompt as Bob, on a new branch off the default branch. Returns the newest commit. */
function commitBranch(git: GitRepository, branch: string, texts: string[], facts: CommitFacts = {}): string {
  git.switchTo(branch, 'main')
  for (const text of texts) git.commit(`Write ${text}`, { [p]: `${text}\n` }, { author: bob, committer: bob, ...facts })
  git.switchTo('main')
  return git.head(branch)
}

/** A branch that the forge publishes as the head of a pull request. */
function commitPull(git: GitRepository, number: number, texts: string[], facts: CommitFacts = {}): string {
  const head = commitBranch(git, `pull-${number}`, texts, facts)
  git.push(`pull-${number}:refs/pull/${number}/head`)
  return head
}

// Slow: a repository for each way a pull request can land.
onOneEngine('Proof of pull requests from git alone', (engine) => {
  const service = useService(engine)

  /** The entries after a backfill, without the first: `deployed` or the number of the pull request for each commit. */
  async function backfill(land: (git: GitRepository) => void, options: ScenarioOptions = {}) {
    const s = await connectedScenario(service, {
      ...options,
      prepare(git) {
        git.commit('Start', { [p]: 'start\n' })
        land(git)
        git.push('main:main')
      },
    })
    return { s, summary: (await s.summary()).slice(1) }
  }

  for (const message of [
    'Auto merge of #7 - bob:kinder, r=ada',
    'Merge #7: Be kinder',
    "Merge branch 'kinder'",
    'Merge pull request #6 from bob/other',
    'Catch up with Bob',
  ]) {
    test(`a merge of a pull request's head is its merge, although the message is "${message}"`, async () => {
      let merge = ''
      const { s, summary } = await backfill((git) => {
        commitPull(git, 6, ['six'])
        commitPull(git, 7, ['seven'])
        merge = git.merge('pull-7', message)
      })
      assert.deepEqual(summary, [`pr_merged ${shortSha(merge)} #7`])
      assert.deepEqual((await s.history()).at(-1)?.user, bob)
    })
  }

  test('the merge of a head in a repository with SHA-256 hashes is found', async () => {
    let merge = ''
    const land = (git: GitRepository) => {
      commitPull(git, 7, ['seven'])
      merge = git.merge('pull-7', 'Any message')
    }
    const { summary } = await backfill(land, { gitOptions: { format: 'sha256' } })
    assert.deepEqual(summary, [`pr_merged ${shortSha(merge)} #7`])
  })

  test('a merge from an imported history is a deployed entry, and the merge of the same number here is not', async () => {
    let [imported, own] = ['', '']
    const { summary } = await backfill((git) => {
      commitBranch(git, 'theirs', ['theirs'])
      imported = git.merge('theirs', 'Merge pull request #7 from upstream/theirs', { committer: web })
      commitPull(git, 7, ['ours'])
      own = git.merge('pull-7', 'Merge pull request #7 from acme/ours', { committer: web })
    })
    assert.deepEqual(summary, [`deployed ${shortSha(imported)}`, `pr_merged ${shortSha(own)} #7`])
  })

  test('a merge to which commits were added by hand is the merge of the pull request that it names', async () => {
    let merge = ''
    const { summary } = await backfill((git) => {
      commitPull(git, 7, ['seven'])
      git.switchTo('pull-7')
      git.commit('Fix a typo', { [p]: 'fixed\n' })
      git.switchTo('main')
      merge = git.merge('pull-7', 'Merge pull request #7 from bob/seven')
    })
    assert.deepEqual(summary, [`pr_merged ${shortSha(merge)} #7`])
  })

  test('a merge by hand that brings the head, with the number anywhere in its subject, is that of the pull request', async () => {
    for (const [start, landed] of [
      ['pull-7', 'pr_merged'],
      ['main', 'deployed'],
    ] as const) {
      let merge = ''
      const { summary } = await backfill((git) => {
        commitPull(git, 7, ['seven'])
        git.switchTo('local', start)
        git.commit('Fix a typo', { [p]: 'fixed\n' })
        git.switchTo('main')
        merge = git.merge('local', "Merge branch 'local', closes #7")
      })
      assert.deepEqual(summary, [`${landed} ${shortSha(merge)}${landed === 'deployed' ? '' : ' #7'}`])
    }
  })

  test('a merge of a squash that the same bot made is the merge of the pull request that it names', async () => {
    const bors = { name: 'bors', email: 'bors@example.com' }
    for (const [squasher, landed] of [
      [bors, 'pr_merged'],
      [ada, 'deployed'],
    ] as const) {
      let merge = ''
      const { summary } = await backfill((git) => {
        commitPull(git, 7, ['six', 'seven'])
        git.switchTo('auto', 'main')
        git.squash('pull-7', 'Be kinder', { author: squasher, committer: squasher })
        git.switchTo('main')
        merge = git.merge('auto', 'Auto merge of #7 - bob:kinder, r=ada', { author: bors, committer: bors })
      })
      assert.deepEqual(summary, [`${landed} ${shortSha(merge)}${landed === 'deployed' ? '' : ' #7'}`])
    }
  })

  test('a merge stays that of its pull request when the branch is rebased afterwards', async () => {
    let merge = ''
    const { summary } = await backfill((git) => {
      commitPull(git, 7, ['seven'])
      merge = git.merge('pull-7', 'Merge pull request #7 from bob/seven')
      git.switchTo('elsewhere', 'main~1')
      git.rebase('pull-7', { committer: bob })
      git.push('elsewhere:refs/pull/7/head')
      git.switchTo('main')
    })
    assert.deepEqual(summary, [`pr_merged ${shortSha(merge)} #7`])
  })

  test('of two pull requests with the same head, the one that the subject names counts, and without a name neither', async () => {
    const merges: string[] = []
    const { summary } = await backfill((git) => {
      for (const [number, message] of [
        [7, 'Merge pull request #7 from bob/kinder'],
        [17, 'Merge acme/prompts#17: Be kinder'],
        [27, 'Merged by hand'],
      ] as const) {
        commitPull(git, number, [`text ${number}`])
        git.push(`pull-${number}:refs/pull/${number + 1}/head`)
        merges.push(git.merge(`pull-${number}`, message))
      }
    })
    const [byForge = '', withPath = '', unnamed = ''] = merges
    assert.deepEqual(summary, [
      `pr_merged ${shortSha(byForge)} #7`,
      `pr_merged ${shortSha(withPath)} #17`,
      `deployed ${shortSha(unnamed)}`,
    ])
  })

  test('a squash from an imported history is a deployed entry, and the squash of the same number here is not', async () => {
    let [imported, own] = ['', '']
    const { summary } = await backfill((git) => {
      imported = git.commit('Theirs (#7)', { [p]: 'theirs\n' }, { author: bob, committer: web })
      commitPull(git, 7, ['ours'], { at: '2026-03-09T00:00:00Z' })
      own = git.squash('pull-7', 'Ours (#7)', { author: bob, committer: web, at: '2026-03-10T00:00:00Z' })
    })
    assert.deepEqual(summary, [`deployed ${shortSha(imported)}`, `pr_merged ${shortSha(own)} #7`])
  })

  test('a squash from a history that was imported later is a deployed entry, although pull request 7 here is older', async () => {
    const imported: string[] = []
    const { s } = await backfill((git) => {
      commitPull(git, 7, ['ours'])
      commitPull(git, 8, ['more', 'of', 'ours'])
      git.git('checkout', '--quiet', '--orphan', 'theirs')
      git.commit('Begin elsewhere', { [p]: null, 'README.md': 'theirs\n' })
      for (const number of [7, 8]) {
        const files = { [p]: `theirs ${number}\n` }
        imported.push(git.commit(`Theirs (#${number})`, files, { author: bob, committer: web }))
      }
      const unrelated = ['--allow-unrelated-histories', '--strategy=ours']
      git.recorded(['merge', '--quiet', ...unrelated, '-m', 'Continue their project', 'main'], {})
      git.switchTo('main', 'theirs')
    })
    assert.deepEqual(
      await s.summary(),
      imported.map((sha) => `deployed ${shortSha(sha)}`),
    )
  })

  test('a pull request that another one replaced is not recorded, although it has the same commits', async () => {
    for (const text of ['seven\n', 'another text\n']) {
      const landed: string[] = []
      const { summary } = await backfill((git) => {
        commitPull(git, 7, ['six', 'seven'])
        git.switchTo('again', 'main')
        landed.push(...git.rebase('pull-7'))
        const message = ['--amend', '--quiet', '-m', 'Write seven']
        git.write({ [p]: text })
        git.git('add', '--all')
        landed[1] = git.recorded(['commit', ...message], { author: null })
        git.push('again:refs/pull/8/head')
        git.switchTo('main')
        git.git('merge', '--quiet', '--ff-only', 'again')
      })
      assert.deepEqual(
        summary,
        landed.map((sha) => `deployed ${shortSha(sha)}`),
      )
    }
  })

  for (const [forge, title] of [
    ['github', 'Be kinder (GH-7)'],
    ['github', 'Be kinder (gh-7)'],
    ['github', 'Merge pull request #7 from bob/kinder'],
    ['gitea', 'Be kinder (!7)'],
  ] as const) {
    test(`a squash on ${forge} with the title "${title}" belongs to pull request 7`, async () => {
      let squash = ''
      const land = (git: GitRepository) => {
        commitPull(git, 7, ['seven'])
        squash = git.squash('pull-7', title, { author: bob })
      }
      const { summary } = await backfill(land, { forge })
      assert.deepEqual(summary, [`pr_merged ${shortSha(squash)} #7`])
    })
  }

  test('of several commits with the number of a pull request, the one that the forge made is its squash', async () => {
    let [before, squash, after] = ['', '', '']
    const { summary } = await backfill((git) => {
      commitPull(git, 7, ['seven'])
      before = git.commit('Prepare (#7)', { [p]: 'prepared\n' })
      git.commit('Undo', { [p]: 'start\n' })
      squash = git.squash('pull-7', 'Be kinder (#7)', { author: bob, committer: web })
      after = git.commit('Follow up (#7)', { [p]: 'more\n' })
    })
    assert.equal(summary[0], `deployed ${shortSha(before)}`)
    assert.deepEqual(summary.slice(2), [`pr_merged ${shortSha(squash)} #7`, `deployed ${shortSha(after)}`])
  })

  test('a commit that mentions a pull request which landed without changing a prompt is a deployed entry', async () => {
    let direct = ''
    const { s, summary } = await backfill((git) => {
      git.switchTo('pull-7', 'main')
      git.commit('Document', { 'README.md': 'seven\n' }, { author: bob })
      git.push('pull-7:refs/pull/7/head')
      git.switchTo('main')
      git.squash('pull-7', 'Document (#7)', { author: bob, committer: web })
      direct = git.commit('Follow up (#7)', { [p]: 'one\n' })
    })
    assert.deepEqual(summary, [`deployed ${shortSha(direct)}`])
    const later = s.git.commit('Follow up again (#7)', { [p]: 'two\n' })
    await s.push()
    await s.advance(11)
    assert.deepEqual((await s.summary()).slice(2), [`deployed ${shortSha(later)}`])
  })

  test('a commit that mentions a pull request from the default branch to a release branch is a deployed entry', async () => {
    const commits: string[] = []
    const { summary } = await backfill((git) => {
      commits.push(git.commit('Be kind', { [p]: 'kind\n' }))
      git.push('main:refs/pull/7/head')
      commits.push(git.commit('Prepare production (#7)', { [p]: 'kinder\n' }, { committer: web }))
    })
    assert.deepEqual(
      summary,
      commits.map((sha) => `deployed ${shortSha(sha)}`),
    )
  })

  test('a cherry-picked or reverted squash does not land its pull request', async () => {
    const commits: string[] = []
    const { summary } = await backfill((git) => {
      commitPull(git, 7, ['seven'])
      commits.push(
        git.commit('Kinder (#7)\n\n(cherry picked from commit abc1234)', { [p]: 'seven\n' }, { author: bob }),
      )
      commits.push(git.commit('Revert "Kinder (#7)"', { [p]: 'start\n' }))
    })
    assert.deepEqual(
      summary,
      commits.map((sha) => `deployed ${shortSha(sha)}`),
    )
  })

  test('a squash by hand that keeps the text of a cherry-picked commit lands its pull request', async () => {
    let squash = ''
    const { summary } = await backfill((git) => {
      commitPull(git, 7, ['seven'])
      const text = 'Kinder (#7)\n\n* Fix\n\n(cherry picked from commit abc1234)\n\n* Be kinder'
      squash = git.commit(text, { [p]: 'seven\n' }, { author: bob })
    })
    assert.deepEqual(summary, [`pr_merged ${shortSha(squash)} #7`])
  })

  test('a commit with the author and the date of a pull request, whose title a person wrote, is its squash', async () => {
    let [amended, squashed] = ['', '']
    const { summary } = await backfill((git) => {
      const dateOf = (name: string) => git.git('show', '--no-patch', '--format=%aI', name)
      commitPull(git, 7, ['seven'])
      git.commit('Meanwhile', { 'README.md': 'x\n' })
      amended = git.commit('Be kinder [Fixes #7]', { [p]: 'seven\n' }, { author: bob, authoredAt: dateOf('pull-7') })
      commitPull(git, 8, ['eight', 'nine', 'ten'])
      git.commit('Meanwhile', { 'README.md': 'y\n' })
      squashed = git.commit('Fixes #8', { [p]: 'ten\n' }, { author: bob, authoredAt: dateOf('pull-8~2') })
    })
    assert.deepEqual(summary, [`pr_merged ${shortSha(amended)} #7`, `pr_merged ${shortSha(squashed)} #8`])
  })

  test('a squash is found by a number without brackets, if the forge or the author of the head made it, or it is the head', async () => {
    const commits: string[] = []
    const { summary } = await backfill((git) => {
      for (const [number, title, facts] of [
        [7, 'Be kinder #7', { author: ada, committer: web }],
        [8, 'Move prompts to new/ #8)', { author: bob, committer: ada }],
        [9, 'Be kinder #9', { author: eve, committer: eve }],
        [10, 'Fixes #10', { author: bob, committer: web }],
        [11, 'Follow up to #11', { author: bob, committer: web }],
      ] as const) {
        commitPull(git, number, [`${number}`])
        git.commit('Meanwhile', { 'README.md': `${number}\n` })
        commits.push(git.commit(title, { [p]: `${number}\n` }, facts))
      }
      commits.push(commitPull(git, 12, ['twelve #12']))
      git.git('merge', '--quiet', '--ff-only', 'pull-12')
      commits.push(commitPull(git, 13, ['thirteen. Closes #13.']))
      git.git('merge', '--quiet', '--ff-only', 'pull-13')
    })
    const [first = '', second = '', third = '', fourth = '', fifth = '', ...heads] = commits.map(shortSha)
    assert.deepEqual(summary, [
      `pr_merged ${first} #7`,
      `pr_merged ${second} #8`,
      `deployed ${third}`,
      `deployed ${fourth}`,
      `deployed ${fifth}`,
      `pr_merged ${heads[0]} #12`,
      `pr_merged ${heads[1]} #13`,
    ])
  })

  test('a backport of several commits of the default branch, before its newest is committed there, is not their landing', async () => {
    const commits: string[] = []
    const { summary } = await backfill((git) => {
      commits.push(git.commit('Be kind', { [p]: 'kind\n' }))
      git.switchTo('stable', 'main~1')
      git.recorded(['cherry-pick', commits[0] as string], { author: null, at: '2026-03-02T00:00:00Z' })
      git.commit('Be kinder', { [p]: 'kinder\n' }, { at: '2026-03-03T00:00:00Z' })
      git.push('stable:refs/pull/7/head')
      git.switchTo('main')
      commits.push(git.recorded(['cherry-pick', 'stable'], { author: null, at: '2026-03-04T00:00:00Z' }))
    })
    assert.deepEqual(
      summary,
      commits.map((sha) => `deployed ${shortSha(sha)}`),
    )
  })

  test('a squash by the forge is found although words follow the number', async () => {
    let squash = ''
    const { summary } = await backfill((git) => {
      commitPull(git, 7, ['seven'])
      git.commit('Meanwhile', { 'README.md': 'x\n' })
      squash = git.squash('pull-7', 'Be kinder (#7) + politer', { author: bob, committer: web })
    })
    assert.deepEqual(summary, [`pr_merged ${shortSha(squash)} #7`])
  })

  test('a commit with the number of an unmerged pull request and another author or date is a deployed entry', async () => {
    const commits: string[] = []
    const { summary } = await backfill((git) => {
      commitPull(git, 7, ['six', 'seven'])
      const authoredAt = git.git('show', '--no-patch', '--format=%aI', 'pull-7')
      for (const [title, facts] of [
        ['Like #7, but kinder', { author: bob }],
        ['Fixes #7', { author: ada, authoredAt }],
        ['Be kinder (#7) + politer', { author: ada, committer: web }],
        ['Be kinder, replaces #7', { author: bob, committer: web }],
        ['Revert "Be kinder (#7) + politer"', { author: bob, committer: web, authoredAt }],
      ] as const) {
        commits.push(git.commit(title, { [p]: `${title}\n` }, facts))
      }
    })
    assert.deepEqual(
      summary,
      commits.map((sha) => `deployed ${shortSha(sha)}`),
    )
  })

  test('the commits of a rebased pull request are one pr_merged entry, and those around them are deployed', async () => {
    let [before, after] = ['', '']
    let landed: string[] = []
    const { s, summary } = await backfill((git) => {
      commitPull(git, 7, ['one', 'two', 'three'])
      before = git.commit('Before', { 'prompts/q.md': 'q\n' })
      landed = git.rebase('pull-7', { committer: ada })
      after = git.commit('After', { [p]: 'after\n' })
    })
    assert.deepEqual(summary, [`pr_merged ${shortSha(landed[2] as string)} #7`, `deployed ${shortSha(after)}`])
    assert.deepEqual(await s.summary('prompts/q.md'), [`deployed ${shortSha(before)}`])
    assert.deepEqual((await s.history())[1]?.user, bob)
  })

  test('a pull request that was rebased onto its own base does not claim the base', async () => {
    let base = ''
    let landed: string[] = []
    const { summary } = await backfill((git) => {
      base = git.commit('Base', { [p]: 'base\n' })
      commitPull(git, 7, ['one', 'two'])
      landed = git.rebase('pull-7', { committer: ada })
    })
    assert.deepEqual(summary, [`deployed ${shortSha(base)}`, `pr_merged ${shortSha(landed[1] as string)} #7`])
  })

  test('a rebased pull request of one commit is a pr_merged entry', async () => {
    let landed: string[] = []
    const { summary } = await backfill((git) => {
      commitPull(git, 7, ['one'])
      git.commit('Before', { 'README.md': 'x\n' })
      landed = git.rebase('pull-7', { committer: ada })
    })
    assert.deepEqual(summary, [`pr_merged ${shortSha(landed[0] as string)} #7`])
  })

  test('rebased pull requests that were built on each other have an entry each', async () => {
    let landed: string[] = []
    const { summary } = await backfill((git) => {
      commitPull(git, 7, ['one', 'two'])
      git.switchTo('pull-8', 'pull-7')
      git.commit('Write three', { [p]: 'three\n' }, { author: bob })
      git.commit('Write four', { [p]: 'four\n' }, { author: bob })
      git.push('pull-8:refs/pull/8/head')
      git.switchTo('main')
      git.commit('Before', { 'README.md': 'x\n' })
      landed = git.rebase('pull-8', { committer: ada })
    })
    assert.deepEqual(summary, [
      `pr_merged ${shortSha(landed[1] as string)} #7`,
      `pr_merged ${shortSha(landed[3] as string)} #8`,
    ])
  })

  test('a pull request that was rebased by hand in another order, with a title in two lines, is one pr_merged entry', async () => {
    let landed: string[] = []
    const { summary } = await backfill((git) => {
      git.switchTo('pull-7', 'main')
      const first = git.commit('Greet', { [p]: 'hello\n' }, { author: bob })
      const second = git.commit('Thank\nand leave', { 'prompts/q.md': 'bye\n' }, { author: bob })
      git.push('pull-7:refs/pull/7/head')
      git.switchTo('main')
      git.commit('Before', { 'README.md': 'x\n' })
      git.recorded(['cherry-pick', '--no-commit', second], { author: null })
      const authoredAt = git.git('show', '--no-patch', '--format=%aI', second)
      git.commit('Thank and leave', {}, { author: bob, authoredAt })
      landed = [git.recorded(['cherry-pick', first], { author: null })]
    })
    assert.deepEqual(summary, [`pr_merged ${shortSha(landed[0] as string)} #7`])
  })

  test('a rebased pull request that ends with merges, of the default branch or of another branch, is a pr_merged entry', async () => {
    let landed: string[] = []
    const { s, summary } = await backfill((git) => {
      commitPull(git, 7, ['one', 'two'])
      for (const text of ['x', 'y']) {
        git.switchTo('main')
        git.commit('Meanwhile', { 'README.md': `${text}\n` })
        git.switchTo('pull-7')
        git.merge('main', "Merge branch 'main' into pull-7", { author: bob, committer: bob })
      }
      git.push('pull-7:refs/pull/7/head')
      git.switchTo('pull-8', 'main')
      git.commit('Thank', { 'prompts/q.md': 'thanks\n' }, { author: bob })
      git.switchTo('of-ada', 'pull-8')
      git.commit('Thank warmly', { 'prompts/q.md': 'many thanks\n' })
      git.switchTo('pull-8')
      git.merge('of-ada', 'Merge pull request #1 from ada/of-ada', { author: bob, committer: web })
      git.push('pull-8:refs/pull/8/head')
      git.switchTo('main')
      const copy = (...commits: string[]) =>
        commits.map((commit) => git.recorded(['cherry-pick', commit], { author: null }))
      landed = [...copy('pull-7^^^', 'pull-7^^'), ...copy('of-ada~1', 'of-ada')]
    })
    assert.deepEqual(summary, [`pr_merged ${shortSha(landed[1] as string)} #7`])
    assert.deepEqual(await s.summary('prompts/q.md'), [`pr_merged ${shortSha(landed[3] as string)} #8`])
  })

  test('a rebased pull request that contains commits of others has the rest of its commits', async () => {
    let landed: string[] = []
    const { s, summary } = await backfill((git) => {
      git.switchTo('pull-7', 'main')
      const other = git.commit('Thank', { 'prompts/q.md': 'thanks\n' }, { author: bob })
      git.push('pull-7:refs/pull/7/head')
      git.switchTo('pull-8', 'main')
      git.commit('Greet', { [p]: 'hello\n' })
      git.recorded(['cherry-pick', other], { author: null })
      git.commit('Praise', { 'prompts/r.md': 'well done\n' })
      git.push('pull-8:refs/pull/8/head')
      git.switchTo('main')
      git.commit('Before', { 'README.md': 'x\n' })
      landed = git.rebase('pull-8', { committer: ada })
    })
    const [first = '', second = '', third = ''] = landed.map(shortSha)
    assert.deepEqual(summary, [`pr_merged ${third} #8`])
    assert.deepEqual(await s.summary('prompts/q.md'), [`pr_merged ${second} #7`])
    assert.deepEqual(await s.summary('prompts/r.md'), [`pr_merged ${third} #8`])
    assert.notEqual(first, third)
  })

  test('a rebased pull request with a commit that was taken from another has its newest text, in one entry', async () => {
    let landed: string[] = []
    const { s, summary } = await backfill((git) => {
      commitPull(git, 7, ['taken'])
      git.switchTo('pull-8', 'main')
      git.commit('Greet', { [p]: 'hello\n' })
      git.commit('Write taken (#7)', { [p]: 'taken\n' }, { author: bob })
      git.commit('Praise', { 'prompts/r.md': 'well done\n' })
      git.push('pull-8:refs/pull/8/head')
      git.switchTo('main')
      git.commit('Before', { 'README.md': 'x\n' })
      landed = git.rebase('pull-8', { committer: ada, at: '2026-03-09T00:00:00Z' })
    })
    const last = landed.at(-1) as string
    assert.deepEqual(summary, [`pr_merged ${shortSha(last)} #8`])
    const entry = (await s.history()).at(-1)
    const { data } = await s.get(`/prompts/${await s.promptId(p)}/history/${entry?.id}`)
    assert.equal((data as { after: string }).after, 'taken\n')
  })

  test('a rebased pull request whose newest commit has the number of another one in its title is not taken for that one', async () => {
    let landed: string[] = []
    const { summary } = await backfill((git) => {
      commitPull(git, 7, ['taken'])
      git.switchTo('pull-8', 'main')
      git.commit('Greet', { [p]: 'hello\n' })
      git.commit('Write taken (#7)', { [p]: 'taken\n' }, { author: bob })
      git.push('pull-8:refs/pull/8/head')
      git.switchTo('main')
      git.commit('Before', { 'README.md': 'x\n' })
      landed = git.rebase('pull-8', { committer: ada, at: '2026-03-09T00:00:00Z' })
    })
    assert.deepEqual(summary, [`pr_merged ${shortSha(landed.at(-1) as string)} #8`])
  })

  test('a pull request that was rebased by hand, with its number in the titles of some or all commits, is one pr_merged entry', async () => {
    for (const newTitles of [null, ['feat: greet (#7)', 'feat: praise (#7)']]) {
      let landed: string[] = []
      const { s, summary } = await backfill((git) => {
        git.switchTo('pull-7', 'main')
        git.commit('Greet (#7)', { [p]: 'hello\n' }, { author: bob })
        git.commit('Praise', { 'prompts/q.md': 'well done\n' }, { author: bob })
        git.push('pull-7:refs/pull/7/head')
        git.switchTo('main')
        git.commit('Before', { 'README.md': 'x\n' })
        const facts = { committer: ada, at: '2026-03-09T00:00:00Z' }
        landed = git.rebase('pull-7', facts)
        if (newTitles === null) return
        git.git('reset', '--quiet', '--hard', 'HEAD~2')
        landed = landed.map((copy, i) => {
          git.git('cherry-pick', '--no-commit', copy)
          const at = `2026-03-09T00:00:${i}7Z`
          return git.recorded(['commit', '--quiet', '-m', newTitles[i] as string], { ...facts, at, author: bob })
        })
      })
      const expected = [`pr_merged ${shortSha(landed.at(-1) as string)} #7`]
      assert.deepEqual([summary, await s.summary('prompts/q.md')], [expected, expected])
    }
  })

  test('rebased pull requests that one sync does not get to are found by the next ones, and the status says which are left', async () => {
    service.syncContext.maxPullBranches = 1
    const landed: string[] = []
    const { s, summary } = await backfill((git) => {
      const numbers = [7, 8, 9]
      for (const number of numbers) commitPull(git, number, [`${number}, first`, `${number}, last`])
      for (const number of numbers) {
        git.commit('Reset', { [p]: 'start\n' })
        landed.push(shortSha(git.rebase(`pull-${number}`).at(-1) as string))
      }
    })
    const merged = (entries: string[]) => entries.filter((entry) => entry.startsWith('pr_merged'))
    const unread = async () =>
      ((await s.get(`/repositories/${s.repository.id}`)).data as { unread_pulls_below: number | null })
        .unread_pulls_below
    const [seven, eight, nine] = landed.map((sha, i) => `pr_merged ${sha} #${i + 7}`)
    assert.deepEqual([merged(summary), await unread()], [[nine], 9])
    await s.sync()
    assert.deepEqual([merged(await s.summary()), await unread()], [[eight, nine], 8])
    await s.sync()
    delete service.syncContext.maxPullBranches
    assert.deepEqual([merged(await s.summary()), await unread()], [[seven, eight, nine], null])
    const deployed = (await s.summary()).filter((entry) => entry.startsWith('deployed'))
    assert.equal(deployed.length, 3, 'the start and two resets')
  })

  test('squashes whose branch landed in part later are found, by the next sync if one does not get to all of them', async () => {
    service.syncContext.maxPullBranches = 1
    const landed: string[] = []
    const { s, summary } = await backfill((git) => {
      for (const number of [7, 8]) {
        commitPull(git, number, [`${number}, first`, `${number}, last`])
        landed.push(shortSha(git.squash(`pull-${number}`, `Title (#${number})`, { author: bob, committer: web })))
        git.recorded(['merge', '--quiet', '--no-ff', '--strategy=ours', '-m', 'Part', `pull-${number}~1`], {})
      }
    })
    const [seven, eight] = landed
    const unread = async () =>
      ((await s.get(`/repositories/${s.repository.id}`)).data as { unread_pulls_below: number | null })
        .unread_pulls_below
    assert.deepEqual([summary, await unread()], [[`deployed ${seven}`, `pr_merged ${eight} #8`], 8])
    await s.sync()
    delete service.syncContext.maxPullBranches
    assert.deepEqual((await s.summary()).slice(1), [`pr_merged ${seven} #7`, `pr_merged ${eight} #8`])
    assert.equal(await unread(), null)
  })

  test('a backfill starts as many git processes for many pull requests and prompts as for few', async () => {
    const runsFor = async (numbers: number[], files: number) => {
      const land = (git: GitRepository) => {
        for (const number of numbers) {
          commitPull(git, number, [`text ${number}`, `more ${number}`])
          git.squash(`pull-${number}`, `Title (#${number})`, { author: bob, committer: web })
        }
        const texts = Array.from({ length: files }, (_, i) => [`prompts/${i}.md`, `${i}\n`])
        git.commit('Add', Object.fromEntries(texts))
      }
      const before = gitRuns.started
      await backfill(land)
      return gitRuns.started - before
    }
    const few = await runsFor([7, 8], 2)
    assert.equal(await runsFor([7, 8, 9, 10, 11, 12], 400), few)
    // As many as for a repository without pull requests, and four for their heads and branches.
    assert.equal(few, 10)
  })

  test('a pull request is not recorded as merged if only its newest commit was copied', async () => {
    let copy = ''
    const { summary } = await backfill((git) => {
      commitPull(git, 7, ['one', 'two'])
      git.commit('Before', { [p]: 'one\n' })
      copy = git.recorded(['cherry-pick', 'pull-7'], { author: null })
    })
    assert.equal(summary.at(-1), `deployed ${shortSha(copy)}`)
  })

  test('a pull request that backports a commit of the default branch is not recorded as merged', async () => {
    let direct = ''
    const { summary } = await backfill((git) => {
      direct = git.commit('Be kinder', { [p]: 'kinder\n' })
      git.switchTo('stable', 'main~1')
      git.recorded(['cherry-pick', direct], { author: null, at: '2026-03-05T00:00:00Z' })
      git.push('stable:refs/pull/7/head')
      git.switchTo('main')
    })
    assert.deepEqual(summary, [`deployed ${shortSha(direct)}`])
  })

  test('a GitLab merge that names its own project needs no ref, and one of another project is a deployed entry', async () => {
    const merges: string[] = []
    const text = (path: string) => `Merge branch 'kinder' into 'main'\n\nBe kinder\n\nSee merge request ${path}`
    const land = (git: GitRepository) => {
      for (const [i, path] of ['upstream/prompts!7', '!8', 'acme/lab/prompts!9', 'acme/lab/prompts!10'].entries()) {
        commitBranch(git, `branch-${i}`, [`text ${i}`])
        merges.push(git.merge(`branch-${i}`, text(path)))
      }
      merges.push(git.commit(`${text('acme/lab/prompts!9')}\n\n(cherry picked from commit abc1234)`, { [p]: 'copy\n' }))
    }
    const { summary } = await backfill(land, { forge: 'gitlab' })
    const expected = ['deployed', 'deployed', 'pr_merged #9', 'pr_merged #10', 'deployed']
    assert.deepEqual(
      summary,
      expected.map((entry, i) => {
        const [action, ...number] = entry.split(' ')
        return [action, shortSha(merges[i] as string), ...number].join(' ')
      }),
    )
  })

  /** GitLab with fast-forward merges: Marge Bot adds the URL of the merge request to each commit. */
  const partOf = (number: number, repository = 'acme/prompts') =>
    `\n\nPart-of: <https://gitlab.example/${repository}/-/merge_requests/${number}>`
  const onGitlab = (origin: string, land: (git: GitRepository) => void) =>
    backfill(
      (git) => {
        git.inRemote('config', 'remote.origin.url', origin)
        land(git)
      },
      { forge: 'gitlab' },
    )

  test('commits that end with the URL of a merge request here are its landing, and need no ref', async () => {
    const commits: string[] = []
    const land = (git: GitRepository) => {
      const write = (message: string) => commits.push(git.commit(message, { [p]: `${commits.length}\n` }))
      write(`Be kinder${partOf(7)}`)
      write(`Be brief${partOf(7)}`)
      write('Direct')
      write('Greet\n\nThank them too.\n\nhttps://gitlab.example/acme/prompts/merge_requests/8')
      write('Follow up\n\nSee https://gitlab.example/acme/prompts/-/merge_requests/9')
      write('Explain\n\nhttps://gitlab.example/acme/prompts/-/merge_requests/10\n\nMore text')
      write(
        `Pick\n\nPart-of: <https://gitlab.example/acme/prompts/-/merge_requests/11>\n(cherry picked from commit ${commits[0]})`,
      )
    }
    const origin = 'git@ssh.gitlab.example:Acme/Prompts.git'
    const { summary } = await onGitlab(origin, land)
    const [, last, direct, plain, ...mentions] = commits.map(shortSha)
    assert.deepEqual(summary, [
      `pr_merged ${last} #7`,
      `deployed ${direct}`,
      `pr_merged ${plain} #8`,
      ...mentions.map((sha) => `deployed ${sha}`),
    ])
  })

  test('commits that end with the URL of a merge request of another repository are deployed entries', async () => {
    for (const origin of [
      'https://gitlab.example/fork/prompts.git',
      'https://gitlab.elsewhere.example/acme/prompts.git',
    ]) {
      let commit = ''
      const { summary } = await onGitlab(origin, (git) => {
        commitPull(git, 7, ['ours'])
        commit = git.commit(`Theirs${partOf(7)}`, { [p]: 'theirs\n' })
      })
      assert.deepEqual(summary, [`deployed ${shortSha(commit)}`], origin)
    }
  })

  test('a merge request is that of the head, if the URL has the number of another one', async () => {
    const landed: string[] = []
    const { summary } = await onGitlab('https://gitlab.example/acme/prompts.git', (git) => {
      landed.push(git.commit(`Seven${partOf(7)}`, { [p]: 'seven\n' }))
      landed.push(git.commit(`Eight${partOf(7)}`, { [p]: 'eight\n' }, { at: '2026-03-09T00:00:00Z' }))
      git.push('main:refs/merge-requests/8/head')
    })
    // Together, they would be one row. What is the head of another one cannot be part of it.
    assert.deepEqual(summary.length, 1)
    assert.match(summary[0] as string, /^pr_merged \w+ #8$/)
  })

  test('a merge request whose commits arrive with several pushes is one entry for all of them', async () => {
    const { s } = await onGitlab('https://gitlab.example/acme/prompts.git', (git) => {
      git.commit(`Be kinder${partOf(7)}`, { [p]: 'kinder\n' })
    })
    const last = s.git.commit(`Be brief${partOf(7)}`, { [p]: 'brief\n' })
    await s.push()
    await s.advance(11)
    assert.deepEqual((await s.summary()).slice(1), [`pr_merged ${shortSha(last)} #7`])
  })

  test('in a clone without the refs of the forge, only what the forge itself wrote counts', async () => {
    let [merge, squash, byHand] = ['', '', '']
    const { summary } = await backfill((git) => {
      commitBranch(git, 'one', ['one'])
      merge = git.merge('one', 'Merge pull request #7 from bob/one')
      squash = git.commit('Be kinder (#8)', { [p]: 'two\n' }, { committer: web })
      byHand = git.commit('See the issue (#9)', { [p]: 'three\n' })
    })
    assert.deepEqual(summary, [
      `pr_merged ${shortSha(merge)} #7`,
      `pr_merged ${shortSha(squash)} #8`,
      `deployed ${shortSha(byHand)}`,
    ])
  })
})
