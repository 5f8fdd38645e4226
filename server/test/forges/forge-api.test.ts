import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ForgeName } from '../../src/domain/repositories/repository.ts'
import { apiOf } from '../../src/forges/index.ts'

const repositories: [forge: ForgeName, url: string, api: string | null][] = [
  ['github', 'https://github.com/acme/prompts.git', 'https://api.github.com/repos/acme/prompts'],
  ['github', 'https://www.GitHub.com/acme/prompts/', 'https://api.github.com/repos/acme/prompts'],
  ['github', 'https://acme.ghe.com/acme/prompts', 'https://api.acme.ghe.com/repos/acme/prompts'],
  ['github', 'https://git.acme.example:8443/acme/prompts', 'https://git.acme.example:8443/api/v3/repos/acme/prompts'],
  ['github', 'https://github.com/acme/prompts/more', null],
  ['gitlab', 'https://gitlab.com/acme/prompts.git', 'https://gitlab.com/api/v4/projects/acme%2Fprompts'],
  ['gitlab', 'https://gitlab.com/acme/a/b/prompts', 'https://gitlab.com/api/v4/projects/acme%2Fa%2Fb%2Fprompts'],
  ['gitea', 'http://localhost:3000/acme/prompts.git', 'http://localhost:3000/api/v1/repos/acme/prompts'],
  ['gitea', 'https://acme.example/git/acme/prompts', 'https://acme.example/git/api/v1/repos/acme/prompts'],
  ['forgejo', 'https://codeberg.org/acme/prompts', 'https://codeberg.org/api/v1/repos/acme/prompts'],
  ['bitbucket', 'https://bitbucket.org/acme/prompts.git', 'https://api.bitbucket.org/2.0/repositories/acme/prompts'],
  ['bitbucket', 'https://git.acme.example/scm/acme/prompts', null],
]

test('the API of a repository follows from its URL', () => {
  for (const [forge, url, expected] of repositories) assert.equal(apiOf(forge).repositoryUrl(url), expected, url)
})

test('a URL that is not https or http, or whose path could lead elsewhere, has no API', () => {
  const urls = [
    'git@github.com:acme/prompts.git',
    'ssh://git@github.com/acme/prompts',
    '/srv/prompts',
    'https://github.com/acme',
    'https://github.com/%2e%2e/%2E%2E%2Fuser',
    'https://github.com/acme/%',
  ]
  for (const forge of ['github', 'gitlab', 'gitea', 'forgejo', 'bitbucket'] as const) {
    for (const url of urls) assert.equal(apiOf(forge).repositoryUrl(url), null, `${forge} ${url}`)
  }
})

test('a name with characters that mean something in a URL stays one segment of the path', () => {
  const url = 'https://git.example/acme/a%3Fb%23c%20d'
  assert.equal(apiOf('gitea').repositoryUrl(url), 'https://git.example/api/v1/repos/acme/a%3Fb%23c%20d')
  assert.equal(apiOf('gitlab').repositoryUrl(url), 'https://git.example/api/v4/projects/acme%2Fa%3Fb%23c%20d')
})

test('each forge gets the token in the header that it reads', () => {
  const headers = (forge: ForgeName) => apiOf(forge).headers('t0ken').Authorization
  assert.equal(headers('github'), 'Bearer t0ken')
  assert.equal(headers('gitlab'), 'Bearer t0ken')
  assert.equal(headers('gitea'), 'token t0ken')
  assert.equal(headers('forgejo'), 'token t0ken')
  assert.equal(headers('bitbucket'), 'Bearer t0ken')
})

test('the ID of a comment is a number, whatever a server responds with', () => {
  for (const forge of ['github', 'gitlab', 'gitea', 'bitbucket'] as const) {
    const { readCommentId } = apiOf(forge)
    assert.equal(readCommentId({ id: 42 }), '42')
    for (const id of ['../../user', '42', -1, 1.5, 2 ** 60, null, {}]) assert.equal(readCommentId({ id }), null)
    for (const body of [undefined, null, 'id', 7, []]) assert.equal(readCommentId(body), null)
  }
})

test('a list of comments that is malformed has no comments', () => {
  for (const forge of ['github', 'gitlab', 'gitea', 'bitbucket'] as const) {
    const { readComments } = apiOf(forge)
    for (const body of [
      undefined,
      null,
      'x',
      {},
      { values: {} },
      [null, 7, { id: 'x', body: 'y' }, { id: 1, body: 2 }],
    ]) {
      assert.deepEqual(readComments(body), [])
    }
  }
  const values = [
    { id: 1, content: { raw: 'a' } },
    { id: 2, content: { raw: 'b' }, deleted: true },
  ]
  assert.deepEqual(apiOf('bitbucket').readComments({ values }), [{ id: '1', text: 'a' }])
})

test('errors of each forge are read from where it puts them', () => {
  assert.equal(apiOf('github').readError({ message: 'Not Found' }), 'Not Found')
  assert.equal(apiOf('gitlab').readError({ message: { note: ['is too long'] } }), '{"note":["is too long"]}')
  assert.equal(apiOf('gitlab').readError({ error: 'insufficient_scope', error_description: 'Why' }), 'Why')
  assert.equal(apiOf('gitea').readError({ message: 'No', url: 'x' }), 'No')
  assert.equal(apiOf('bitbucket').readError({ type: 'error', error: { message: 'No' } }), 'No')
  for (const forge of ['github', 'gitlab', 'gitea', 'bitbucket'] as const) {
    for (const body of [undefined, null, '', [], { message: '' }, { error: {} }]) {
      const { readError } = apiOf(forge)
      if (forge !== 'gitlab' || (body as { error?: unknown } | null)?.error === undefined)
        assert.equal(readError(body), null)
    }
  }
})
