import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { checkForge, forgeWarning } from '../../src/domain/repositories/forge-host.ts'
import { patternsOverlap } from '../../src/domain/repositories/path-overlap.ts'
import { repositoryIdentity, repositoryPlace, serverOf } from '../../src/domain/repositories/repository-identity.ts'

describe('The identity of a repository', () => {
  test('spellings of one URL are one repository', () => {
    const groups = [
      [
        'https://git.example/acme/prompts',
        'https://git.example/acme/prompts/',
        'https://git.example/acme/prompts.git',
        'https://git.example/acme/prompts.git/',
        'https://GIT.Example/acme/prompts',
        'https://git.example:443/acme/prompts',
        'https://git.example./acme//prompts',
      ],
      ['git@github.com:acme/prompts.git', 'ssh://git@GitHub.com/acme/prompts', 'ssh://git@github.com:22/Acme/prompts/'],
      ['git@git.example:acme/prompts', 'git@GIT.example:acme/prompts.git/'],
      ['https://github.com/acme/prompts', 'https://github.com/Acme/Prompts.git'],
      ['/srv/prompts', '/srv/prompts/', 'file:///srv/prompts'],
    ]
    for (const urls of groups) assert.equal(new Set(urls.map(repositoryIdentity)).size, 1, urls.join(' '))
    assert.equal(new Set(groups.map(([url]) => repositoryIdentity(url as string))).size, groups.length)
  })

  test('another host, port, protocol or path is another repository', () => {
    const urls = [
      'https://git.example/acme/prompts',
      'http://git.example/acme/prompts',
      'https://git.example:8443/acme/prompts',
      'https://git.example/acme/Prompts',
      'https://git.example/acme/prompts.git.git',
      'https://git.example/acme/prompts-git',
      'https://other.example/acme/prompts',
      'ssh://git@git.example/acme/prompts',
      'git@git.example:acme/prompts',
      '/srv/prompts',
      '/srv/prompts.git',
    ]
    assert.equal(new Set(urls.map(repositoryIdentity)).size, urls.length)
    const [https, http, withPort] = urls as [string, string, string]
    assert.equal(new Set([https, http, withPort, 'git@git.example:acme/prompts'].map(repositoryPlace)).size, 1)
    assert.equal(new Set([https, http, withPort, 'git@git.example:acme/prompts'].map(serverOf)).size, 4)
    assert.equal(serverOf('/srv/prompts'), null)
  })
})

describe('The forge of a host', () => {
  test('a forge that the host certainly is not is rejected', () => {
    const rejected = [
      ['gitlab', 'https://github.com/acme/prompts', 'must be github for a repository on github.com'],
      ['github', 'git@gitlab.com:acme/prompts.git', 'must be gitlab for a repository on gitlab.com'],
      ['gitea', 'ssh://git@altssh.bitbucket.org:443/acme/prompts', 'must be bitbucket for a repository on altssh'],
      ['github', 'https://CODEBERG.org/acme/prompts', 'must be forgejo for a repository on codeberg.org'],
    ] as const
    for (const [forge, url, problem] of rejected) {
      assert.throws(() => checkForge(forge, url), { field: 'forge', message: new RegExp(`^forge ${problem}`) }, url)
    }
    for (const [forge, url] of [
      ['github', 'https://github.com/acme/prompts'],
      ['gitea', 'https://codeberg.org/acme/prompts'],
      ['bitbucket', 'https://git.example/acme/prompts'],
      ['gitlab', '/srv/github.com/prompts'],
    ] as const) {
      checkForge(forge, url)
      assert.equal(forgeWarning(forge, url), null)
    }
  })

  test('a host whose name suggests another forge leads to a warning', () => {
    assert.match(
      forgeWarning('github', 'https://gitlab.acme.io/a/b') ?? '',
      /gitlab\.acme\.io suggests gitlab\. Webhooks/,
    )
    assert.equal(forgeWarning('gitlab', 'git@gitlab.acme.io:a/b'), null)
    assert.equal(forgeWarning('forgejo', 'https://gitea.acme.io/a/b'), null)
    assert.equal(forgeWarning('github', 'https://git.acme.io/gitlab/b'), null)
  })
})

describe('Overlapping globs', () => {
  test('two globs overlap if a file could match both', () => {
    const overlapping = [
      ['prompts/**/*.md', 'prompts/*.md'],
      ['prompts/**', '**/*.md'],
      ['**', 'a/b/c.txt'],
      ['*.md', 'README.*'],
      ['a*c/x', 'abbc/?'],
      ['a/**/b/*', 'a/b/c'],
      ['**/a/**', '**/b/**'],
      ['[a-c]x.md', 'b*'],
      ['[a-c].md', '[x-z].md'],
      ['\\*.md', '*.md'],
      ['{a,b}/*.md', 'b/**'],
    ]
    const separate = [
      ['prompts/*.md', 'prompts/*.txt'],
      ['prompts/*.md', 'prompts/a/*.md'],
      ['a/**', 'b/**'],
      ['a/**', 'a'],
      ['[a-c].md', 'd.md'],
      ['a?.md', 'abc.md'],
      ['\\*.md', 'a.md'],
      ['*/x', 'x'],
      ['{a,b}/*.md', 'c/**'],
    ]
    for (const [one, other] of overlapping as [string, string][]) {
      assert.ok(patternsOverlap(one, other) && patternsOverlap(other, one), `${one} and ${other}`)
    }
    for (const [one, other] of separate as [string, string][]) {
      assert.ok(!patternsOverlap(one, other) && !patternsOverlap(other, one), `${one} and ${other}`)
    }
  })
})
