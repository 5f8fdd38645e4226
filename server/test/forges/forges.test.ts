import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import { type Delivery, type ForgeName, type PullFacts, repositoryPage } from '../../../testing/payloads/facts.ts'
import { gitlabSigned } from '../../../testing/payloads/gitlab.ts'
import { deliveriesFrom } from '../../../testing/payloads/deliveries.ts'
import type { PullReport } from '../../src/domain/history/pull.ts'
import type { PushReport, Report } from '../../src/domain/history/report.ts'
import { forgeNames } from '../../src/domain/repositories/repository.ts'
import { forgeOf } from '../../src/forges/index.ts'

const secret = 'It is a secret to everybody'
const now = Date.UTC(2026, 2, 2, 12)
const [before, after, head, merge] = ['1', '2', '3', '4'].map((digit) => digit.repeat(40)) as [
  string,
  string,
  string,
  string,
]
const openedAt = '2026-02-01T08:00:00Z'
const at = '2026-02-03T10:30:00Z'

function read(name: ForgeName, { headers, body }: Delivery): Report {
  const forge = forgeOf(name)
  return forge.readBody(forge.readHeaders(headers).event, body.toString())
}

function onlyPush(report: Report): PushReport {
  assert.equal(report.events.length, 1)
  assert.equal(report.events[0]?.type, 'push')
  return report.events[0] as PushReport
}

function onlyPull(report: Report): PullReport {
  assert.equal(report.events.length, 1)
  assert.equal(report.events[0]?.type, 'pull')
  return report.events[0] as PullReport
}

function pull(name: ForgeName, facts: Partial<PullFacts> & { action: PullFacts['action'] }): PullReport {
  return onlyPull(read(name, deliveriesFrom(name, secret).pull({ number: 12, head, openedAt, at, ...facts })))
}

/** The same delivery with something else at the paths, signed or not. */
function changed(delivery: Delivery, values: Record<string, unknown>): Delivery {
  const body = JSON.parse(delivery.body.toString())
  for (const [path, value] of Object.entries(values)) {
    const names = path.split('.')
    const last = names.pop() as string
    const place = names.reduce((object, name) => object[name], body)
    if (value === undefined) delete place[last]
    else place[last] = value
  }
  return { headers: delivery.headers, body: Buffer.from(JSON.stringify(body)) }
}

describe('Signatures', () => {
  test("GitHub's own example verifies", () => {
    const body = Buffer.from('Hello, World!')
    const headers = {
      'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    }
    assert.ok(forgeOf('github').verifySignature({ headers, body }, ["It's a Secret to Everybody"], now))
    assert.ok(
      !forgeOf('github').verifySignature(
        { headers, body: Buffer.from('Hello, World?') },
        ["It's a Secret to Everybody"],
        now,
      ),
    )
  })

  for (const name of forgeNames) {
    const forge = forgeOf(name)
    const signatureHeaders = /signature|token/

    test(`${name}: a delivery verifies with its secret, during rotation with either, and with no other`, () => {
      const delivery = deliveriesFrom(name, secret).push({ before, after })
      assert.ok(forge.verifySignature(delivery, [secret], now))
      assert.ok(forge.verifySignature(delivery, ['the next one', secret], now))
      assert.ok(forge.verifySignature(delivery, [secret, 'the one before'], now))
      for (const others of [['another'], [`${secret} `], [secret.slice(1)], [''], []]) {
        assert.ok(!forge.verifySignature(delivery, others, now), JSON.stringify(others))
      }
    })

    test(`${name}: a missing, empty, cut, longer or repeated signature does not verify`, () => {
      const delivery = deliveriesFrom(name, secret).push({ before, after })
      const alter = (change: (value: string) => string | string[] | undefined) => ({
        headers: Object.fromEntries(
          Object.entries(delivery.headers).map(([key, value]) => [
            key,
            signatureHeaders.test(key) ? change(value) : value,
          ]),
        ),
        body: delivery.body,
      })
      assert.ok(
        forge.verifySignature(
          alter((value) => value),
          [secret],
          now,
        ),
      )
      const changes: ((value: string) => string | string[] | undefined)[] = [
        () => undefined,
        () => '',
        () => 'sha256=',
        (value) => value.slice(0, -1),
        (value) => `${value}0`,
        (value) => `sha1=${value}`,
        (value) => (value.startsWith('sha256=') ? value.replace('sha256', 'sha512') : `v1,${value}`),
        (value) => [value, value],
        (value) => `${value}, ${value}`,
      ]
      for (const change of changes) assert.ok(!forge.verifySignature(alter(change), [secret], now), change.toString())
    })

    test(`${name}: an empty secret verifies nothing, not even what was signed with it`, () => {
      assert.ok(!forge.verifySignature(deliveriesFrom(name, '').push({ before, after }), [''], now))
      assert.ok(!forge.verifySignature(deliveriesFrom(name, '').push({ before, after }), ['', secret], now))
    })

    // GitLab's token says nothing about the body.
    if (name !== 'gitlab') {
      test(`${name}: a body that was written anew with the same meaning does not verify`, () => {
        const { headers, body } = deliveriesFrom(name, secret).push({ before, after })
        const rewritten = Buffer.from(JSON.stringify(JSON.parse(body.toString()), null, 1))
        assert.ok(!forge.verifySignature({ headers, body: rewritten }, [secret], now))
      })
    }

    test(`${name}: a new secret is long, new each time, and verifies what is signed with it`, () => {
      const [one, other] = [forge.generateSecret(), forge.generateSecret()]
      assert.notEqual(one, other)
      assert.ok(one.length >= 43)
      assert.match(one, name === 'gitlab' ? /^whsec_[A-Za-z0-9+/]{43}=$/ : /^[\w-]+$/)
      assert.ok(forge.verifySignature(deliveriesFrom(name, one).ping(), [one], now))
    })
  }

  test('GitHub does not take the SHA-1 signature, nor Bitbucket a signature in the header of GitHub', () => {
    const { headers, body } = deliveriesFrom('github', secret).push({ before, after })
    const { 'x-hub-signature-256': signature, ...rest } = headers
    assert.ok(!forgeOf('github').verifySignature({ headers: rest, body }, [secret], now))
    const elsewhere = { 'x-hub-signature-256': signature as string }
    assert.ok(!forgeOf('bitbucket').verifySignature({ headers: elsewhere, body }, [secret], now))
  })

  test('Gitea without its own header is verified by that of GitHub, and an empty one of its own is not passed over', () => {
    const { headers, body } = deliveriesFrom('gitea', secret).push({ before, after })
    const { 'x-gitea-signature': own, ...rest } = headers
    assert.ok(own)
    assert.ok(forgeOf('gitea').verifySignature({ headers: rest, body }, [secret], now))
    assert.ok(
      !forgeOf('gitea').verifySignature({ headers: { ...headers, 'x-gitea-signature': '' }, body }, [secret], now),
    )
  })

  describe('GitLab, signed', () => {
    const { verifySignature: verify, generateSecret: newSecret } = forgeOf('gitlab')
    const key = newSecret()
    const body = Buffer.from('{"object_kind":"push"}')

    test('verifies within five minutes, by any of the signatures and any of the keys', () => {
      const delivery = gitlabSigned(key, 'Push Hook', body, now)
      assert.ok(verify(delivery, [key], now))
      assert.ok(verify(delivery, [newSecret(), key], now))
      const minutes = 60_000
      for (const [distance, expected] of [
        [5 * minutes, true],
        [-5 * minutes, true],
        [5 * minutes + 1000, false],
        [-5 * minutes - 1000, false],
      ] as const) {
        assert.equal(verify(delivery, [key], now + distance), expected, String(distance))
      }
      const signature = delivery.headers['webhook-signature'] as string
      const several = { ...delivery.headers, 'webhook-signature': `v1,AAAA v2,AAAA ${signature}` }
      assert.ok(verify({ headers: several, body }, [key], now))
    })

    test('does not verify another body, id, time, version, key or a repeated header', () => {
      const { headers } = gitlabSigned(key, 'Push Hook', body, now)
      const signature = headers['webhook-signature'] as string
      assert.ok(!verify({ headers, body: Buffer.from('{"object_kind": "push"}') }, [key], now))
      assert.ok(!verify({ headers, body }, [newSecret()], now))
      for (const other of [
        { 'webhook-id': 'another' },
        { 'webhook-timestamp': String(now / 1000 + 1) },
        { 'webhook-timestamp': `${now / 1000}.0` },
        { 'webhook-timestamp': 'NaN' },
        { 'webhook-signature': signature.replace('v1,', 'v2,') },
        { 'webhook-signature': signature.replace('v1,', '') },
        { 'webhook-signature': '' },
        { 'webhook-signature': `${signature}, ${signature}` },
      ]) {
        assert.ok(!verify({ headers: { ...headers, ...other }, body }, [key], now), JSON.stringify(other))
      }
      assert.ok(!verify({ headers: { ...headers, 'webhook-signature': [signature, signature] }, body }, [key], now))
    })

    test('does not fall back to the token where there is a signature and a key for it', () => {
      const { headers } = gitlabSigned(newSecret(), 'Push Hook', body, now)
      assert.ok(!verify({ headers: { ...headers, 'x-gitlab-token': key }, body }, [key], now))
      assert.ok(verify({ headers: { ...headers, 'x-gitlab-token': secret }, body }, [secret], now))
    })

    test('a key without a single byte verifies nothing', () => {
      const delivery = gitlabSigned('whsec_', 'Push Hook', body, now)
      assert.equal(
        delivery.headers['webhook-signature'],
        `v1,${createHmac('sha256', '')
          .update(`${delivery.headers['webhook-id']}.${now / 1000}.${body}`)
          .digest('base64')}`,
      )
      assert.ok(!verify(delivery, ['whsec_'], now))
    })
  })
})

describe('What a delivery says of itself', () => {
  const events: Record<ForgeName, [push: string, pull: string]> = {
    github: ['push', 'pull_request'],
    gitlab: ['Push Hook', 'Merge Request Hook'],
    gitea: ['push', 'pull_request'],
    forgejo: ['push', 'pull_request'],
    bitbucket: ['repo:push', 'pullrequest:created'],
  }
  for (const name of forgeNames) {
    test(`${name}: its event, and its id, which is new each time and the same when sent again`, () => {
      const builder = deliveriesFrom(name, secret)
      const push = builder.push({ before, after })
      assert.equal(forgeOf(name).readHeaders(push.headers).event, events[name][0])
      const opened = builder.pull({ action: 'opened', number: 1, head })
      assert.equal(forgeOf(name).readHeaders(opened.headers).event, events[name][1])
      const ids = [push, opened].map(({ headers }) => forgeOf(name).readHeaders(headers).deliveryId)
      assert.ok(ids[0] && ids[1] && ids[0] !== ids[1])
      const again = builder.signed('push', push.body, ids[0])
      assert.equal(forgeOf(name).readHeaders(again.headers).deliveryId, ids[0])
    })

    test(`${name}: nothing where headers are missing, repeated, too long or not printable`, () => {
      const nothing = { event: '', deliveryId: null }
      assert.deepEqual(forgeOf(name).readHeaders({}), nothing)
      const { headers } = deliveriesFrom(name, secret).push({ before, after })
      for (const change of [
        (value: string) => [value, value],
        () => 'x'.repeat(201),
        () => 'é',
        () => 'a\u0000',
        () => '',
      ]) {
        const other = Object.fromEntries(Object.entries(headers).map(([key, value]) => [key, change(value)]))
        assert.deepEqual(forgeOf(name).readHeaders(other), nothing)
      }
    })
  }

  test('GitLab before 17.4 has no id unless it signs', () => {
    assert.equal(forgeOf('gitlab').readHeaders({ 'x-gitlab-event': 'Push Hook' }).deliveryId, null)
    assert.equal(forgeOf('gitlab').readHeaders({ 'webhook-id': 'one' }).deliveryId, 'one')
  })
})

for (const name of forgeNames) {
  const builder = deliveriesFrom(name, secret)
  const isBitbucket = name === 'bitbucket'
  const shown = (sha: string) => (isBitbucket ? sha.slice(0, 12) : sha)

  describe(`${forgeOf(name).title}: pushes`, () => {
    test('a push to a branch tells the branch, both ends, who pushed and the repository', () => {
      const report = read(
        name,
        builder.push({ branch: 'team/prompts', before, after, pusher: 'alan', defaultBranch: 'trunk' }),
      )
      assert.deepEqual(report, {
        webUrl: repositoryPage(name),
        defaultBranch: isBitbucket ? null : 'trunk',
        events: [{ type: 'push', branch: 'team/prompts', before, after, pusher: 'alan' }],
      })
    })

    test('a new branch has no before, a deleted one no after, with SHA-256 too', () => {
      for (const sha of [after, 'ab'.repeat(32)]) {
        assert.deepEqual(onlyPush(read(name, builder.push({ before: null, after: sha }))).before, null)
        const gone = onlyPush(read(name, builder.push({ branch: 'old', before: sha, after: null })))
        assert.deepEqual([gone.branch, gone.before, gone.after], ['old', sha, null])
      }
    })

    test('tags and what it is not about tell no event but the repository', () => {
      for (const delivery of [
        builder.push({ ref: 'refs/tags/v1', before: null, after }),
        builder.push({ ref: 'refs/tags/v1', before, after: null }),
        builder.ping(),
      ]) {
        const { events, webUrl } = read(name, delivery)
        assert.deepEqual(events, [])
        assert.equal(webUrl, repositoryPage(name))
      }
    })

    test('a list of commits that was cut does not matter', () => {
      const commits = Array.from({ length: 30 }, (_, index) => ({ sha: (index + 10).toString(16).padStart(40, 'a') }))
      assert.equal(onlyPush(read(name, builder.push({ before, after, commits, forced: true }))).after, after)
    })
  })

  describe(`${forgeOf(name).title}: pull requests`, () => {
    test('opened tells number, page, title, both branches, the newest commit, the author and when', () => {
      assert.deepEqual(pull(name, { action: 'opened', author: 'ada', title: 'Be kinder', at: openedAt }), {
        type: 'pull',
        number: 12,
        url: `${repositoryPage(name)}${forgeOf(name).pullPath(12)}`,
        title: 'Be kinder',
        openedAt: Date.parse(openedAt),
        event: {
          kind: 'opened',
          at: Date.parse(openedAt),
          head: shown(head),
          headBranch: 'feature',
          base: 'main',
          mergeCommit: null,
          commitCount: name === 'github' ? 1 : null,
          actor: 'ada',
        },
      })
    })

    test('opened happened when it was opened, whatever changed since', () => {
      assert.equal(pull(name, { action: 'opened' }).event.at, Date.parse(openedAt))
    })

    test('new commits, closing and merging tell who did it and when', () => {
      for (const action of ['updated', 'closed', 'merged'] as const) {
        const { event, openedAt: opened } = pull(name, { action, author: 'ada', actor: 'grace', mergeCommit: merge })
        assert.equal(event.kind, action)
        assert.equal(event.at, Date.parse(at))
        assert.equal(event.actor, 'grace')
        assert.equal(opened, Date.parse(openedAt))
        assert.equal(event.mergeCommit, action === 'merged' ? shown(merge) : null)
      }
    })

    test('a new destination is told', () => {
      const { event } = pull(name, { action: 'retargeted', base: 'main', previousBase: 'develop' })
      assert.equal(event.kind, isBitbucket ? 'updated' : 'retargeted')
      assert.equal(event.base, 'main')
    })

    if (!isBitbucket) {
      test('reopened is told', () => {
        const { event } = pull(name, { action: 'reopened' })
        assert.deepEqual([event.kind, event.at], ['reopened', Date.parse(at)])
      })

      test('ready for review is no event', () => {
        assert.deepEqual(read(name, builder.pull({ action: 'ready_for_review', number: 12, head })).events, [])
      })
    }

    test('a draft is opened like any other, and labels are no event', () => {
      assert.equal(pull(name, { action: 'draft_opened' }).event.kind, 'opened')
      assert.deepEqual(read(name, builder.pull({ action: 'labeled', number: 12, head })).events, [])
    })

    test('a merge whose commit the forge does not tell is told without one', () => {
      assert.equal(pull(name, { action: 'merged', mergeCommit: null }).event.mergeCommit, null)
    })

    test('the branch of a fork carries its owner, also where it is called main', () => {
      const { event } = pull(name, { action: 'opened', headBranch: 'main', fork: { owner: 'eve' } })
      assert.equal(event.headBranch, 'eve:main')
    })

    test('a deleted fork is still told apart', () => {
      const { event } = pull(name, { action: 'closed', headBranch: 'main', fork: { owner: 'eve', deleted: true } })
      assert.equal(event.headBranch, name === 'github' ? 'eve:main' : 'unknown:main')
      assert.equal(event.head, shown(head))
    })

    test('whoever deleted their account is nobody or a ghost', () => {
      const nobody = name === 'gitlab' || isBitbucket ? null : 'ghost'
      for (const action of ['opened', 'closed', 'merged'] as const) {
        assert.equal(pull(name, { action, author: null, actor: null }).event.actor, nobody)
      }
    })

    test('a title may be empty, and what no terminal should print is taken out of it', () => {
      assert.equal(pull(name, { action: 'closed', title: '' }).title, '')
      assert.equal(pull(name, { action: 'closed', title: 'a\u0000b\u001b[31m\ud800 ' }).title, 'a b [31m\ufffd')
    })
  })

  describe(`${forgeOf(name).title}: what is not of its shape`, () => {
    const push = builder.push({ before, after })
    const closed = builder.pull({ action: 'closed', number: 12, head })

    test('a body that is no JSON object is refused', () => {
      const { event } = forgeOf(name).readHeaders(push.headers)
      for (const [body, message] of [
        ['', 'the body must be JSON'],
        ['{', 'the body must be JSON'],
        ['payload', 'the body must be JSON'],
        ['[]', 'the body must be a JSON object'],
        ['null', 'the body must be a JSON object'],
        ['"text"', 'the body must be a JSON object'],
      ] as const) {
        assert.throws(() => forgeOf(name).readBody(event, body), { message })
      }
    })

    test('the field that is wrong is named', () => {
      for (const [path, value, what] of wrongFields[name]) {
        const delivery = changed(/^(pull|object)/.test(path) ? closed : push, { [path]: value })
        assert.throws(() => read(name, delivery), { message: `${path} ${what}` }, `${path} ${value}`)
      }
    })
  })
}

const familyWrongs: [path: string, value: unknown, what: string][] = [
  ['ref', undefined, 'must be a text'],
  ['ref', 'refs/heads/a\u0000', 'must be the name of a ref'],
  ['after', 'HEAD', 'must be a commit: 7 to 64 hexadecimal digits'],
  ['after', 7, 'must be a text'],
  ['pull_request.head.sha', undefined, 'must be a text'],
  ['pull_request.head.sha', '--upload-pack=evil', 'must be a commit: 7 to 64 hexadecimal digits'],
  ['pull_request.number', '12', 'must be an integer'],
  ['pull_request.number', 0, 'must be a positive integer'],
  ['pull_request.number', 2 ** 31, 'must be a positive integer'],
  ['pull_request.title', null, 'must be a text'],
  ['pull_request.html_url', 'javascript:alert(1)', 'must be an address that begins with http:// or https://'],
  ['pull_request.created_at', 'yesterday', 'must be a time'],
  ['pull_request.created_at', '2026-02-03T25:00:00Z', 'must be a time'],
  ['pull_request.base.ref', '', 'must be the name of a ref'],
  ['pull_request.merged', 'no', 'must be true or false'],
]

const wrongFields: Record<ForgeName, [path: string, value: unknown, what: string][]> = {
  github: familyWrongs,
  gitea: familyWrongs,
  forgejo: familyWrongs,
  gitlab: [
    ['ref', undefined, 'must be a text'],
    ['before', 'main', 'must be a commit: 7 to 64 hexadecimal digits'],
    ['object_attributes.iid', undefined, 'must be a positive integer'],
    ['object_attributes.last_commit.id', 'x', 'must be a commit: 7 to 64 hexadecimal digits'],
    ['object_attributes.created_at', '2026-02-03', 'must be a time'],
    ['object_attributes.url', 'ftp://gitlab.example/1', 'must be an address that begins with http:// or https://'],
    ['object_attributes.source_branch', null, 'must be a text'],
  ],
  bitbucket: [
    ['pullrequest.id', 1.5, 'must be an integer'],
    ['pullrequest.source.commit.hash', null, 'must be a text'],
    ['pullrequest.created_on', undefined, 'must be a text'],
    ['pullrequest.links.html.href', '/relative', 'must be an address that begins with http:// or https://'],
  ],
}

describe('Traps', () => {
  const closed = (name: ForgeName, values: Record<string, unknown> = {}) =>
    onlyPull(
      read(name, changed(deliveriesFrom(name, secret).pull({ action: 'closed', number: 12, head, openedAt, at }), values)),
    )

  test('GitHub: the commit by which it tried the merge is never taken for the merge', () => {
    for (const action of ['updated', 'closed', 'reopened', 'unclear'] as const) {
      assert.equal(pull('github', { action, testMergeCommit: merge }).event.mergeCommit, null)
    }
  })

  test('GitHub: closed and open in one breath is unclear, as is closed without a time', () => {
    const { event } = pull('github', { action: 'unclear' })
    assert.deepEqual([event.kind, event.at, event.mergeCommit], ['unclear', Date.parse(at), null])
    assert.equal(closed('github', { 'pull_request.closed_at': null }).event.kind, 'unclear')
    assert.equal(closed('github', { 'pull_request.state': 'open' }).event.kind, 'unclear')
    assert.equal(closed('gitea', { 'pull_request.state': 'open' }).event.kind, 'unclear')
  })

  test('Gitea: an old version that does not tell when it was closed closed it when it was last changed', () => {
    for (const value of [null, undefined]) {
      const { event } = closed('gitea', { 'pull_request.closed_at': value })
      assert.deepEqual([event.kind, event.at], ['closed', Date.parse(at)])
    }
  })

  test('Gitea: a branch that is gone is still called by its name', () => {
    const { event } = closed('gitea', { 'pull_request.head.ref': 'refs/pull/12/head' })
    assert.equal(event.headBranch, 'feature')
  })

  test('GitHub: a merge without a merger or a time of merging is told by its sender and its closing', () => {
    const later = '2026-02-28T00:00:00Z'
    const delivery = deliveriesFrom('github', secret).pull({ action: 'merged', number: 12, head, at, actor: 'grace' })
    const { event } = onlyPull(
      read(
        'github',
        changed(delivery, {
          'pull_request.merged_by': null,
          'pull_request.merged_at': null,
          'pull_request.updated_at': later,
        }),
      ),
    )
    assert.deepEqual([event.kind, event.actor, event.at], ['merged', 'grace', Date.parse(at)])
  })

  test('GitHub: it was merged or closed when that happened, whatever changed since', () => {
    for (const [action, later] of [
      ['closed', ['updated_at']],
      ['merged', ['closed_at', 'updated_at']],
    ] as const) {
      const delivery = deliveriesFrom('github', secret).pull({ action, number: 12, head, openedAt, at })
      const values = Object.fromEntries(later.map((field) => [`pull_request.${field}`, '2026-02-28T00:00:00Z']))
      assert.equal(onlyPull(read('github', changed(delivery, values))).event.at, Date.parse(at))
    }
  })

  test('GitHub: the merge is told even without a commit in the body', () => {
    const delivery = deliveriesFrom('github', secret).pull({ action: 'merged', number: 12, head, mergeCommit: merge })
    const report = read('github', changed(delivery, { 'pull_request.merge_commit_sha': undefined }))
    assert.equal(onlyPull(report).event.mergeCommit, null)
  })

  test('GitHub: neither user nor label of a deleted fork leaves a branch of ours', () => {
    const delivery = deliveriesFrom('github', secret).pull({
      action: 'closed',
      number: 12,
      head,
      headBranch: 'main',
      fork: { owner: 'eve', deleted: true },
    })
    const branchOf = (label: string | null, user: object | null) =>
      onlyPull(read('github', changed(delivery, { 'pull_request.head.label': label, 'pull_request.head.user': user })))
        .event.headBranch
    assert.equal(branchOf('main', { login: 'eve' }), 'eve:main')
    assert.equal(branchOf('eve:main', null), 'eve:main')
    assert.equal(branchOf(null, null), 'unknown:main')
    assert.equal(branchOf(':main', null), 'unknown:main')
  })

  test('GitHub: a new title is no new destination', () => {
    const delivery = deliveriesFrom('github', secret).pull({ action: 'retargeted', number: 12, head })
    assert.deepEqual(read('github', changed(delivery, { changes: { title: { from: 'a' } } })).events, [])
  })

  test('GitHub: a form says the same as JSON', () => {
    const { headers, body } = deliveriesFrom('github', secret).pull({
      action: 'opened',
      number: 12,
      head,
      title: 'a + b & c=%',
    })
    const form = Buffer.from(`payload=${encodeURIComponent(body.toString())}`)
    assert.deepEqual(read('github', { headers, body: form }), read('github', { headers, body }))
    assert.throws(() => read('github', { headers, body: Buffer.from('payload=') }), {
      message: 'the body must be JSON',
    })
  })

  test('a delivery of Forgejo is read right at a hook that was connected as GitHub', () => {
    for (const action of ['opened', 'updated', 'retargeted', 'reopened', 'closed', 'merged'] as const) {
      const delivery = deliveriesFrom('forgejo', secret).pull({ action, number: 12, head, mergeCommit: merge })
      assert.ok(forgeOf('github').verifySignature(delivery, [secret], now))
      assert.deepEqual(read('github', delivery), read('forgejo', delivery))
      assert.equal(onlyPull(read('github', delivery)).event.kind, action)
    }
    const push = deliveriesFrom('forgejo', secret).push({ before, after, pusher: 'alan' })
    assert.equal(onlyPush(read('github', push)).pusher, 'alan')
  })

  test('the new default branch is told by whatever event carries it', () => {
    const body = JSON.stringify({
      action: 'edited',
      changes: { default_branch: { from: 'master' } },
      repository: { html_url: 'https://github.example/acme/prompts/', default_branch: 'main' },
    })
    assert.deepEqual(forgeOf('github').readBody('repository', body), {
      webUrl: 'https://github.example/acme/prompts',
      defaultBranch: 'main',
      events: [],
    })
  })

  test('a page that is no web page is none', () => {
    for (const html_url of ['javascript:alert(1)', 'https://', 'https://a b', '', 7, null]) {
      assert.equal(forgeOf('github').readBody('ping', JSON.stringify({ repository: { html_url } })).webUrl, null)
    }
  })

  test('GitLab: both ways to write a time mean the same, with and without a zone or fraction', () => {
    for (const text of [
      '2023-12-05 18:43:00 UTC',
      '2023-12-05T18:43:00Z',
      '2023-12-05T18:43:00.000Z',
      '2023-12-05T19:43:00+01:00',
      '2023-12-05 19:43:00 +0100',
      '2023-12-05T18:43:00',
    ]) {
      assert.equal(
        closed('gitlab', { 'object_attributes.updated_at': text }).event.at,
        Date.UTC(2023, 11, 5, 18, 43),
        text,
      )
    }
    assert.equal(closed('gitlab', { 'object_attributes.updated_at': null }).event.at, Date.parse(openedAt))
  })

  test('GitLab: what it hides is never taken for a name', () => {
    assert.equal(closed('gitlab', { 'user.username': '[REDACTED]' }).event.actor, 'grace')
    assert.equal(closed('gitlab', { user: { username: '[REDACTED]', name: '[redacted]' } }).event.actor, null)
  })

  test('GitLab: the merge commit, else the squashed one, else none', () => {
    const delivery = deliveriesFrom('gitlab', secret).pull({ action: 'merged', number: 12, head })
    const mergeCommitOf = (merged: string | null, squashed: string | null | undefined) =>
      onlyPull(
        read(
          'gitlab',
          changed(delivery, {
            'object_attributes.merge_commit_sha': merged,
            'object_attributes.squash_commit_sha': squashed,
          }),
        ),
      ).event.mergeCommit
    assert.equal(mergeCommitOf(merge, after), merge)
    assert.equal(mergeCommitOf(null, after), after)
    assert.equal(mergeCommitOf('', after), after)
    assert.equal(mergeCommitOf(null, undefined), null)
    assert.equal(mergeCommitOf('', ''), null)
  })

  test('GitLab: what is closed has no merge commit', () => {
    assert.equal(closed('gitlab', { 'object_attributes.merge_commit_sha': merge }).event.mergeCommit, null)
  })

  test('GitLab: a merge request without a commit tells nothing yet', () => {
    const delivery = deliveriesFrom('gitlab', secret).pull({ action: 'opened', number: 12, head })
    assert.deepEqual(read('gitlab', changed(delivery, { 'object_attributes.last_commit': null })).events, [])
  })

  test('GitLab: the fork of a subgroup is called by its path, not by its title', () => {
    const delivery = deliveriesFrom('gitlab', secret).pull({
      action: 'opened',
      number: 12,
      head,
      fork: { owner: 'eve/lab' },
    })
    assert.equal(onlyPull(read('gitlab', delivery)).event.headBranch, 'eve/lab:feature')
  })

  test('Bitbucket: twelve digits are passed on as they are, in the case of git', () => {
    const { event } = pull('bitbucket', { action: 'merged', head: 'ABCDEF012345'.padEnd(40, '0'), mergeCommit: merge })
    assert.deepEqual([event.head, event.mergeCommit], ['abcdef012345', merge.slice(0, 12)])
  })

  test('Bitbucket: one delivery tells each branch that was pushed, and none of the tags', () => {
    const { headers, body } = deliveriesFrom('bitbucket', secret).push({ before, after })
    const side = (name: string, type: string, hash: string) => ({ name, type, target: { hash } })
    const push = {
      changes: [
        { old: side('main', 'branch', before), new: side('main', 'branch', after) },
        { old: null, new: side('v1', 'tag', after) },
        { old: side('gone', 'branch', before), new: null, closed: true },
        { old: null, new: side('fresh', 'branch', after), created: true },
        { old: side('v0', 'tag', before), new: null, closed: true },
      ],
    }
    const { events } = read('bitbucket', changed({ headers, body }, { push }))
    assert.deepEqual(
      events.map((event) => event.type === 'push' && [event.branch, event.before, event.after]),
      [
        ['main', before, after],
        ['gone', before, null],
        ['fresh', null, after],
      ],
    )
    assert.throws(() => read('bitbucket', changed({ headers, body }, { push: {} })), {
      message: 'push.changes must be a list of objects',
    })
  })

  test('an unknown action is no event, whatever else is in the body', () => {
    assert.deepEqual(forgeOf('github').readBody('pull_request', '{"action":"stacked"}').events, [])
    assert.deepEqual(
      forgeOf('gitlab').readBody('Merge Request Hook', '{"object_attributes":{"action":"approved"}}').events,
      [],
    )
    assert.deepEqual(forgeOf('bitbucket').readBody('pullrequest:approved', '{}').events, [])
    assert.deepEqual(forgeOf('bitbucket').readBody('constructor', '{}').events, [])
    assert.deepEqual(forgeOf('gitea').readBody('', '{}').events, [])
  })
})

describe('Marks', () => {
  function markOf(name: ForgeName, message: string, parents = 1): number | null {
    return forgeOf(name).mergeReference({ parents, subject: message.split('\n')[0] as string, message })
  }

  test('GitHub: the number of a merge, of a squash, and the last one where there are several', () => {
    assert.equal(markOf('github', 'Merge pull request #7 from eve/main\n\nBe kinder', 2), 7)
    assert.equal(markOf('github', 'Be kinder (#7)', 2), 7)
    assert.equal(markOf('github', 'Be kinder (#7)  \n\n* one (#3)'), 7)
    assert.equal(markOf('github', 'Revert "x (#10)" (#11)'), 11)
    assert.equal(markOf('github', 'Backport x (#10) (#2147483647)'), 2_147_483_647)
  })

  test('GitHub: no number in a revert without one, in other places, of other forms', () => {
    for (const message of [
      'Revert "x (#10)"',
      'Merge pull request #7 from eve/main',
      'Be kinder\n\nBe kinder (#7)',
      'Be kinder #7',
      'Be kinder (7)',
      'Be kinder (#)',
      'Be kinder (#0)',
      'Be kinder (#07)',
      'Be kinder (#-7)',
      'Be kinder (#7a)',
      'Be kinder (#٧)',
      'Be kinder (!7)',
      'Be kinder (#2147483648)',
      'Be kinder (#99999999999999999999)',
      '#7)',
      ')',
      '',
    ]) {
      assert.equal(markOf('github', message), null, message)
    }
    assert.equal(markOf('github', "Merge branch 'main' of github.com:acme/prompts", 2), null)
    assert.equal(markOf('github', 'Merge pull request #7 into main', 2), null)
    assert.equal(markOf('github', 'Merge pull request #99999999999 from eve/main', 2), null)
  })

  test('Gitea and Forgejo: the trailer, the merge whatever its title, the end of the subject', () => {
    for (const name of ['gitea', 'forgejo'] as const) {
      const trailer = 'Reviewed-on: https://gitea.example/acme/prompts/pulls/8'
      assert.equal(markOf(name, `Be kinder\n\n${trailer}\nReviewed-by: Ada <ada@acme.example>`), 8)
      assert.equal(markOf(name, `Be kinder (#3)\n\n${trailer.replace('8', '5')}\n\n${trailer}\r\n`), 8)
      assert.equal(markOf(name, "Merge pull request 'Be kinder' (#7) from feature into main", 2), 7)
      assert.equal(markOf(name, "Merge pull request 'a' (#1) from b into c' (!7) from feature into main", 2), 7)
      assert.equal(markOf(name, "Merge pull request 'Be kinder' (#7) from feature into main"), null)
      assert.equal(markOf(name, 'Be kinder (#7)'), 7)
      assert.equal(markOf(name, 'Be kinder (!7)'), 7)
      assert.equal(markOf(name, 'Be kinder\n\nReviewed-on: nowhere'), null)
      assert.equal(markOf(name, `Be kinder\n\n > ${trailer}`), null)
      assert.equal(markOf(name, 'Revert "x (#10)"'), null)
    }
  })

  test('GitLab: the line that its merges end with', () => {
    const merged = "Merge branch 'feature' into 'main'\n\nBe kinder\n\nSee merge request "
    assert.equal(markOf('gitlab', `${merged}acme/lab/prompts!7`, 2), 7)
    assert.equal(markOf('gitlab', `${merged}!7\n`, 2), 7)
    assert.equal(markOf('gitlab', `${merged}acme/prompts!7 and more`, 2), null)
    assert.equal(markOf('gitlab', `${merged}acme prompts!7`, 2), null)
    assert.equal(markOf('gitlab', `${merged}acme/prompts#7`, 2), null)
    assert.equal(markOf('gitlab', 'Be kinder (#7)'), null)
    assert.equal(markOf('gitlab', 'Revert "Be kinder"\n\nThis reverts merge request !7'), null)
  })

  test('Bitbucket: the subject of its merges', () => {
    assert.equal(markOf('bitbucket', 'Merged in feature/kinder (pull request #7)\n\nBe kinder', 2), 7)
    assert.equal(markOf('bitbucket', 'Merged in feature (pull request #7)'), 7)
    assert.equal(markOf('bitbucket', 'Merged in a feature (pull request #7)', 2), null)
    assert.equal(markOf('bitbucket', 'Merged in feature', 2), null)
    assert.equal(markOf('bitbucket', 'Be kinder (#7)'), null)
  })

  test('separators and lines of git in a message change nothing', () => {
    const hostile = 'a\u001e\u001f:100644 100644 1 2 M\u0000 (#7)\n:100644 (#9)\nSee merge request'
    assert.equal(markOf('github', hostile), 7)
    assert.equal(markOf('gitea', hostile), 7)
    assert.equal(markOf('gitlab', hostile), null)
    assert.equal(markOf('bitbucket', hostile), null)
  })

  test('messages of megabytes that look like marks all along are read once', () => {
    const size = 5_000_000
    const hostile = [
      ' '.repeat(size),
      '('.repeat(size),
      '(#'.repeat(size / 2),
      `(#${'1'.repeat(size)})`,
      '(#1) '.repeat(size / 5),
      `Merge pull request '${"' (#1".repeat(size / 5)}`,
      `Merge pull request #${'1'.repeat(size)}`,
      `Merged in ${' (pull request #1'.repeat(size / 17)}`,
      `x${'\nReviewed-on: '.repeat(size / 14)}`,
      `x${'\nSee merge request a'.repeat(size / 20)}`,
      `x\nSee merge request ${'!1'.repeat(size / 2)} `,
      '\n'.repeat(size),
    ]
    const expected: Record<ForgeName, number> = { github: 1, gitlab: 1, gitea: 1, forgejo: 1, bitbucket: 0 }
    // Looking at them again for every character would not end before the test is ended.
    for (const name of forgeNames) {
      const marks = hostile.map((message) => forgeOf(name).mergeReference({ parents: 2, subject: message, message }))
      assert.equal(marks.filter((mark) => mark !== null).length, expected[name], name)
    }
  })
})

describe('Places and people', () => {
  test('where a forge keeps the newest commit of a pull request, and its page', () => {
    const places = forgeNames.map((name) => [forgeOf(name).pullRef(7), forgeOf(name).pullPath(7)])
    assert.deepEqual(places, [
      ['refs/pull/7/head', '/pull/7'],
      ['refs/merge-requests/7/head', '/-/merge_requests/7'],
      ['refs/pull/7/head', '/pulls/7'],
      ['refs/pull/7/head', '/pulls/7'],
      [null, '/pull-requests/7'],
    ])
  })

  test('commits that a forge made itself are told by its address, not by its name', () => {
    const made = (name: ForgeName, email: string) => forgeOf(name).isForgeCommitter({ name: 'GitHub', email })
    assert.ok(made('github', 'noreply@github.com'))
    assert.ok(!made('github', '7+ada@users.noreply.github.com'))
    assert.ok(made('gitlab', 'noreply@gitlab.com'))
    for (const name of ['gitlab', 'gitea', 'forgejo', 'bitbucket'] as const) {
      assert.ok(!made(name, 'noreply@github.com'))
    }
  })

  test('setting up takes four lines with the page, the address and the secret', () => {
    for (const name of forgeNames) {
      const lines = forgeOf(name).setUpSteps({
        url: 'https://ledger.example/hooks/1',
        secret: 's3cr3t',
        webUrl: repositoryPage(name),
      })
      assert.equal(lines.length, 4)
      assert.match(lines[0] as string, new RegExp(`^Open ${repositoryPage(name)}/`))
      assert.match(lines[1] as string, /https:\/\/ledger\.example\/hooks\/1/)
      assert.match(lines[1] as string, /s3cr3t/)
      assert.match(lines[2] as string, /push/i)
      assert.match(lines[2] as string, /(pull|merge) request/i)
      for (const line of lines) assert.ok(line.length <= 160 && !/[<>`\n]/.test(line), line)
    }
  })
})
