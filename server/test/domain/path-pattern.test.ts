import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { GitRepository } from '../../../testing/git-repository.ts'
import { pathPattern } from '../../src/domain/repositories/path-pattern.ts'
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

const globs = [
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

describe('Path patterns', () => {
  test('a glob that git matches slowly matches the same files as in git', async () => {
    const repository = new GitRepository()
    repository.commit('Files', Object.fromEntries(paths.map((path) => [path, `${path}\n`])))
    repository.push()
    const inGit = async (glob: string) => {
      const args = ['log', '--name-only', '--no-renames', '-z', '--format=', 'main', '--', `:(glob)${glob}`]
      const listed = (await git(args, { mirror: repository.remote })).toString()
      return listed
        .split('\0')
        .map((path) => path.trim())
        .filter(Boolean)
        .sort()
    }
    for (const glob of globs) {
      const { pathspec, matches } = pathPattern(glob)
      assert.ok(matches, `${glob} is left to git`)
      const expected = await inGit(glob)
      assert.deepEqual(paths.filter(matches).sort(), expected, glob)
      const candidates = await inGit(pathspec)
      assert.deepEqual(
        expected.filter((path) => !candidates.includes(path)),
        [],
        `${pathspec} misses files of ${glob}`,
      )
    }
  })

  test('git gets an ordinary glob as it is', () => {
    for (const glob of ['prompts', 'prompts/**', 'prompts/**/*.md', '**/*.prompt', 'a/*/b-*/c?.[mt]*']) {
      assert.deepEqual(pathPattern(glob), { pathspec: glob, matches: null })
    }
  })

  test('a hostile glob on hostile paths takes milliseconds, in git and here', async () => {
    const repository = new GitRepository()
    const names = Array.from({ length: 500 }, (_, i) => `p/${'a'.repeat(240)}${i}`)
    const deep = Array.from({ length: 20 }, (_, i) => `p/${'a/'.repeat(200)}${i}`)
    repository.commit('Files', Object.fromEntries([...names, ...deep].map((path) => [path, 'x\n'])))
    repository.push()
    for (const glob of [`p/${'*a'.repeat(15)}*b`, `p/${'**/a*/'.repeat(4)}b`, `${'**/*a*/'.repeat(4)}*b*c`]) {
      const { pathspec, matches } = pathPattern(validPathPattern(glob))
      const start = performance.now()
      await git(['log', '--format=%H', 'main', '--', `:(glob)${pathspec}`], { mirror: repository.remote })
      for (const path of [...names, ...deep]) assert.equal(matches?.(path), false)
      assert.ok(performance.now() - start < 5_000, `${glob} took too long`)
    }
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
    ]
    for (const [glob, message] of rejected) assert.throws(() => validPathPattern(glob), { message }, glob)
  })
})
