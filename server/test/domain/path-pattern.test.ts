import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { GitRepository } from '../../../testing/git-repository.ts'
import { globMatcher, pathPattern } from '../../src/domain/repositories/path-pattern.ts'
import { validPathPattern } from '../../src/domain/repositories/repository.ts'
import { git } from '../../src/git/run.ts'

const paths = [
  'p.md',
  'prompts/p.md',
  'prompts/a/p.md',
  'prompts/a/b/my-prompt-1.md',
  'prompts/a/prompts/c/p.txt',
  'src/prompts/x/y.md',
  'src/[id]/y*z.md',
  'é/ü.md',
]

const slowGlobs = [
  '**/*prompt*.md',
  '**/prompts/**/*.md',
  'prompts/**/prompts/**',
  'prompts/**/a/**/*',
  '*r*m*/p.m[a-z]',
  '*/?*/*-*-[!2].md',
  '**/\\[i*\\]*/*\\**.md',
  '**/**/p.md',
  'prompts/*a*',
]

const quickGlobs = [
  'prompts',
  'prompts/**',
  'prompts/**/*.md',
  '**/*.md',
  '**/p.md',
  '**/*',
  'src/**/*\\*z.md',
  'src/\\[id\\]/**/*.md',
  'prompts/*/b*/m?-*',
]

/** The files of the repository that match one of the pathspecs, according to git. */
async function inGit(repository: GitRepository, pathspecs: string[]): Promise<string[]> {
  const args = ['log', '--name-only', '--no-renames', '-z', '--format=', 'main', '--', ...pathspecs]
  const listed = (await git(args, { mirror: repository.remote })).toString()
  return listed
    .split('\0')
    .map((path) => path.trim())
    .filter(Boolean)
    .sort()
}

function repositoryWith(files: string[]): GitRepository {
  const repository = new GitRepository()
  repository.commit('Files', Object.fromEntries(files.map((path) => [path, `${path}\n`])))
  repository.push()
  return repository
}

describe('Path patterns', () => {
  test('a glob that git matches slowly matches the same files as in git', async () => {
    const repository = repositoryWith(paths)
    for (const glob of slowGlobs) {
      const { pathspecs, matches } = pathPattern(glob)
      assert.ok(matches, `${glob} is left to git`)
      const expected = await inGit(repository, [`:(glob)${glob}`])
      assert.deepEqual(paths.filter(matches).sort(), expected, glob)
      const candidates = await inGit(repository, pathspecs)
      assert.deepEqual(
        expected.filter((path) => !candidates.includes(path)),
        [],
        `${pathspecs} misses files of ${glob}`,
      )
    }
  })

  test('git matches an ordinary glob by itself, and our own matching agrees', async () => {
    const repository = repositoryWith(paths)
    for (const glob of quickGlobs) {
      const { pathspecs, matches } = pathPattern(glob)
      assert.equal(matches, null, glob)
      const expected = await inGit(repository, [`:(glob)${glob}`])
      assert.deepEqual(await inGit(repository, pathspecs), expected, glob)
      assert.deepEqual(paths.filter(globMatcher(glob)).sort(), expected, glob)
    }
  })

  test('braces stand for alternatives, in ordinary globs and in slow ones', async () => {
    const files = ['p/a.md', 'p/b.txt', 'p/c.rst', 'q/d.md', 'p/x/prompt-1.md', 'p/{e}.md', 'p/{f,g}.md', 'p/h{.md']
    const repository = repositoryWith(files)
    const expected: [string, string[]][] = [
      ['p/*.{md,txt}', ['p/a.md', 'p/b.txt', 'p/h{.md', 'p/{e}.md', 'p/{f,g}.md']],
      ['{p,q}/[ad].{md,txt}', ['p/a.md', 'q/d.md']],
      ['{p/{a,c},q/d}.{md,rst}', ['p/a.md', 'p/c.rst', 'q/d.md']],
      ['{q,**/*r*m*t*-?.md}', ['p/x/prompt-1.md', 'q/d.md']],
      ['p/{e}.md', ['p/{e}.md']],
      ['p/\\{f,g}.md', ['p/{f,g}.md']],
      ['p/h{.md', ['p/h{.md']],
      ['p/{a,}.md', ['p/a.md']],
    ]
    for (const [glob, matching] of expected) {
      const { pathspecs, matches } = pathPattern(validPathPattern(glob))
      const found = (await inGit(repository, pathspecs)).filter((path) => matches?.(path) ?? true)
      assert.deepEqual(found, matching.sort(), glob)
    }
  })

  test('a hostile glob on hostile paths takes milliseconds, in git and here', async () => {
    const repository = new GitRepository()
    const names = Array.from({ length: 500 }, (_, i) => `p/${'a'.repeat(240)}${i}`)
    const deep = Array.from({ length: 20 }, (_, i) => `p/${'a/'.repeat(200)}${i}`)
    repository.commit('Files', Object.fromEntries([...names, ...deep].map((path) => [path, 'x\n'])))
    repository.push()
    for (const glob of [`p/${'*a'.repeat(15)}*b`, `p/${'**/a*/'.repeat(4)}b`, `${'**/*a*/'.repeat(4)}*b*c`]) {
      const { pathspecs, matches } = pathPattern(validPathPattern(glob))
      const start = performance.now()
      await git(['log', '--format=%H', 'main', '--', ...pathspecs], { mirror: repository.remote })
      for (const path of [...names, ...deep]) assert.equal(matches?.(path), false)
      // Exponential time would take years.
      assert.ok(performance.now() - start < 30_000, `${glob} took too long`)
    }
  })

  test('the longest globs are compared with the longest names in about a millisecond', () => {
    const name = 'a'.repeat(2_000)
    const startedAt = performance.now()
    for (const glob of [`*${'a'.repeat(490)}b`, `**/*${'?'.repeat(490)}b`]) {
      const matches = globMatcher(validPathPattern(glob))
      for (let i = 0; i < 100; i++) assert.equal(matches(name), false)
    }
    assert.ok(performance.now() - startedAt < 2_500)
  })

  test('a glob with too many wildcards, or a malformed one, is rejected with the reason', () => {
    const rejected: [string, RegExp][] = [
      ['*a'.repeat(17), /at most 16 wildcards/],
      ['**/a/'.repeat(5), /at most 4 wildcards for folders/],
      ['a'.repeat(501), /500/],
      ['a/[b', /incomplete \[/],
      ['a\\', /incomplete \\/],
      ['[z-a]', /invalid range/],
      ['[[:alpha:]]', /named character classes/],
      ['{a,b}{a,b}{a,b}{a,b}{a,b}', /at most 16 alternatives in braces/],
    ]
    for (const [glob, message] of rejected) assert.throws(() => validPathPattern(glob), { message }, glob)
  })
})
