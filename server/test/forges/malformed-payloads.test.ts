import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deliveriesFrom } from '../../../testing/payloads/deliveries.ts'
import type { ForgeName } from '../../../testing/payloads/facts.ts'
import { forgeNames } from '../../src/domain/repositories/repository.ts'
import { forgeOf } from '../../src/forges/index.ts'
import { after, before, now, pullDelivery, readDelivery, secret, withValues } from './read-delivery.ts'

type Malformed = [path: string, value: unknown, problem: string]

const hash = 'must be a commit hash of 7 to 64 hexadecimal digits'
const webUrl = 'must be an http:// or https:// URL'

const githubFields: Malformed[] = [
  ['ref', undefined, 'must be a string'],
  ['ref', 'refs/heads/a\u0000', 'must be a ref name'],
  ['after', 'HEAD', hash],
  ['after', 7, 'must be a string'],
  ['pull_request.head.sha', undefined, 'must be a string'],
  ['pull_request.head.sha', '--upload-pack=evil', hash],
  ['pull_request.number', '12', 'must be an integer'],
  ['pull_request.number', 0, 'must be a positive integer'],
  ['pull_request.number', 2 ** 31, 'must be a positive integer'],
  ['pull_request.title', null, 'must be a string'],
  ['pull_request.html_url', 'javascript:alert(1)', webUrl],
  ['pull_request.created_at', 'yesterday', 'must be a timestamp'],
  ['pull_request.created_at', '2026-02-03T25:00:00Z', 'must be a timestamp'],
  ['pull_request.base.ref', '', 'must be a ref name'],
  ['pull_request.merged', 'no', 'must be true or false'],
]

const malformedFields: Record<ForgeName, Malformed[]> = {
  github: githubFields,
  gitea: githubFields,
  forgejo: githubFields,
  gitlab: [
    ['ref', undefined, 'must be a string'],
    ['before', 'main', hash],
    ['object_attributes.iid', undefined, 'must be a positive integer'],
    ['object_attributes.last_commit.id', 'x', hash],
    ['object_attributes.created_at', '2026-02-03', 'must be a timestamp'],
    ['object_attributes.url', 'ftp://gitlab.example/1', webUrl],
    ['object_attributes.source_branch', null, 'must be a string'],
  ],
  bitbucket: [
    ['pullrequest.id', 1.5, 'must be an integer'],
    ['pullrequest.source.commit.hash', null, 'must be a string'],
    ['pullrequest.created_on', 7, 'must be a string'],
    ['pullrequest.links.html.href', '/relative', webUrl],
  ],
}

for (const name of forgeNames) {
  describe(`Malformed payloads of ${forgeOf(name).title}`, () => {
    const push = deliveriesFrom(name, secret).push({ before, after })
    const closed = pullDelivery(name, { action: 'closed' })

    test('a body that is not a JSON object is rejected', () => {
      const { event } = forgeOf(name).readHeaders(push.headers)
      for (const [body, message] of [
        ['', 'the body must be JSON'],
        ['{', 'the body must be JSON'],
        ['payload', 'the body must be JSON'],
        ['[]', 'the body must be a JSON object'],
        ['null', 'the body must be a JSON object'],
        ['"text"', 'the body must be a JSON object'],
      ] as const) {
        assert.throws(() => forgeOf(name).readBody(event, body, now), { message })
      }
    })

    test('the error names the malformed field', () => {
      for (const [path, value, problem] of malformedFields[name]) {
        const delivery = withValues(/^(pull|object)/.test(path) ? closed : push, { [path]: value })
        assert.throws(() => readDelivery(name, delivery), { message: `${path} ${problem}` }, `${path} ${value}`)
      }
    })
  })
}

test('an unknown action is no event, whatever else the body contains', () => {
  assert.deepEqual(forgeOf('github').readBody('pull_request', '{"action":"stacked"}', now).events, [])
  const approved = '{"object_attributes":{"action":"approved"}}'
  assert.deepEqual(forgeOf('gitlab').readBody('Merge Request Hook', approved, now).events, [])
  assert.deepEqual(forgeOf('bitbucket').readBody('pullrequest:approved', '{}', now).events, [])
  assert.deepEqual(forgeOf('bitbucket').readBody('constructor', '{}', now).events, [])
  assert.deepEqual(forgeOf('gitea').readBody('', '{}', now).events, [])
})
