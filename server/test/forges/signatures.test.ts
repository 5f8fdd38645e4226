import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import { deliveriesFrom } from '../../../testing/payloads/deliveries.ts'
import { gitlabSigned } from '../../../testing/payloads/gitlab.ts'
import { forgeNames } from '../../src/domain/repositories/repository.ts'
import { forgeOf } from '../../src/forges/index.ts'
import { after, before, now, onlyPush, secret } from './read-delivery.ts'

describe('Webhook signatures', () => {
  test("GitHub's documented example is accepted, and rejected with another body", () => {
    const { verifySignature } = forgeOf('github')
    const secrets = ["It's a Secret to Everybody"]
    const headers = {
      'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    }
    assert.ok(verifySignature({ headers, body: Buffer.from('Hello, World!') }, secrets, now))
    assert.ok(!verifySignature({ headers, body: Buffer.from('Hello, World?') }, secrets, now))
  })

  for (const name of forgeNames) {
    const { verifySignature, generateSecret } = forgeOf(name)
    const signatureHeader = /signature|token/

    test(`${name}: a delivery is accepted with its secret, with either secret of a rotation, and with no other`, () => {
      const delivery = deliveriesFrom(name, secret).push({ before, after })
      assert.ok(verifySignature(delivery, [secret], now))
      assert.ok(verifySignature(delivery, ['the new secret', secret], now))
      assert.ok(verifySignature(delivery, [secret, 'the old secret'], now))
      for (const others of [['another'], [`${secret} `], [secret.slice(1)], [''], []]) {
        assert.ok(!verifySignature(delivery, others, now), JSON.stringify(others))
      }
    })

    test(`${name}: a missing, empty, truncated, extended or repeated signature is rejected`, () => {
      const { headers, body } = deliveriesFrom(name, secret).push({ before, after })
      type Change = (value: string) => string | string[] | undefined
      const isAccepted = (change: Change) => {
        const entries = Object.entries(headers)
        const changed = entries.map(([key, value]) => [key, signatureHeader.test(key) ? change(value) : value])
        return verifySignature({ headers: Object.fromEntries(changed), body }, [secret], now)
      }
      assert.ok(isAccepted((value) => value))
      const changes: Change[] = [
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
      for (const change of changes) assert.ok(!isAccepted(change), change.toString())
    })

    test(`${name}: an empty secret accepts nothing, not even a delivery signed with it`, () => {
      const delivery = deliveriesFrom(name, '').push({ before, after })
      assert.ok(!verifySignature(delivery, [''], now))
      assert.ok(!verifySignature(delivery, ['', secret], now))
    })

    // GitLab's token does not cover the body.
    if (name !== 'gitlab') {
      test(`${name}: the same JSON with different formatting is rejected`, () => {
        const { headers, body } = deliveriesFrom(name, secret).push({ before, after })
        const reformatted = Buffer.from(JSON.stringify(JSON.parse(body.toString()), null, 1))
        assert.ok(!verifySignature({ headers, body: reformatted }, [secret], now))
      })
    }

    test(`${name}: a generated secret is long, unique and accepted by the forge`, () => {
      const [one, other] = [generateSecret(), generateSecret()]
      assert.notEqual(one, other)
      assert.ok(one.length >= 43)
      assert.match(one, name === 'gitlab' ? /^whsec_[A-Za-z0-9+/]{43}=$/ : /^[\w-]+$/)
      assert.ok(verifySignature(deliveriesFrom(name, one).ping(), [one], now))
    })
  }

  test("GitHub's SHA-1 signature is rejected, and so is GitHub's signature header for Bitbucket", () => {
    const { headers, body } = deliveriesFrom('github', secret).push({ before, after })
    const { 'x-hub-signature-256': signature, ...rest } = headers
    assert.ok(!forgeOf('github').verifySignature({ headers: rest, body }, [secret], now))
    const onlyGithubs = { 'x-hub-signature-256': signature as string }
    assert.ok(!forgeOf('bitbucket').verifySignature({ headers: onlyGithubs, body }, [secret], now))
  })

  test("Gitea accepts GitHub's signature header only if its own header is absent", () => {
    const { headers, body } = deliveriesFrom('gitea', secret).push({ before, after })
    const { 'x-gitea-signature': own, ...rest } = headers
    const { verifySignature } = forgeOf('gitea')
    assert.ok(own)
    assert.ok(verifySignature({ headers: rest, body }, [secret], now))
    assert.ok(!verifySignature({ headers: { ...headers, 'x-gitea-signature': '' }, body }, [secret], now))
  })
})

describe('Form-encoded deliveries', () => {
  const json = JSON.stringify({ ref: 'refs/heads/main', before, after, text: 'ä + % & = \u{1F600}' })
  const form = Buffer.from(new URLSearchParams({ payload: json }).toString())
  const signedBy = (text: string | Buffer) => createHmac('sha256', secret).update(text).digest('hex')

  for (const name of ['gitea', 'forgejo'] as const) {
    const { verifySignature, readBody } = forgeOf(name)
    const headersWith = (signature: string) => ({ [`x-${name}-signature`]: signature })

    test(`${name}: a form is accepted with a signature over its JSON, as ${name} sends it, or over the whole body`, () => {
      for (const signed of [json, form]) {
        assert.ok(verifySignature({ headers: headersWith(signedBy(signed)), body: form }, [secret], now))
        assert.ok(!verifySignature({ headers: headersWith(signedBy(signed)), body: form }, ['another'], now))
      }
      assert.equal(onlyPush(readBody('push', form.toString(), now)).after, after)
    })

    test(`${name}: a form is rejected if its JSON differs from what was signed`, () => {
      const signature = headersWith(signedBy(json))
      for (const body of [
        `payload=${encodeURIComponent(json.replace('main', 'evil'))}`,
        `payload=%7B%7D&payload=${encodeURIComponent(json)}`,
        `other=1&payload=${encodeURIComponent(json)}`,
        `payload=${encodeURIComponent(json).slice(0, -3)}`,
        'payload=%',
        'payload=',
      ]) {
        assert.ok(!verifySignature({ headers: signature, body: Buffer.from(body) }, [secret], now), body)
      }
    })
  }

  test('GitHub, which signs the whole form, is not accepted with a signature over the JSON', () => {
    const headers = { 'x-hub-signature-256': `sha256=${signedBy(json)}` }
    assert.ok(!forgeOf('github').verifySignature({ headers, body: form }, [secret], now))
  })
})

describe('Signed deliveries of GitLab', () => {
  const { verifySignature, generateSecret } = forgeOf('gitlab')
  const key = generateSecret()
  const body = Buffer.from('{"object_kind":"push"}')

  test('a signed GitLab delivery is accepted for five minutes, with any of its signatures and any of the keys', () => {
    const delivery = gitlabSigned(key, 'Push Hook', body, now)
    assert.ok(verifySignature(delivery, [key], now))
    assert.ok(verifySignature(delivery, [generateSecret(), key], now))
    const minuteMs = 60_000
    for (const [differenceMs, expected] of [
      [5 * minuteMs, true],
      [-5 * minuteMs, true],
      [5 * minuteMs + 1_000, false],
      [-5 * minuteMs - 1_000, false],
    ] as const) {
      assert.equal(verifySignature(delivery, [key], now + differenceMs), expected, `${differenceMs} ms`)
    }
    const signature = delivery.headers['webhook-signature'] as string
    const several = { ...delivery.headers, 'webhook-signature': `v1,AAAA v2,AAAA ${signature}` }
    assert.ok(verifySignature({ headers: several, body }, [key], now))
  })

  test('a signed GitLab delivery is rejected with another body, id, time, version or key, or a repeated header', () => {
    const { headers } = gitlabSigned(key, 'Push Hook', body, now)
    const signature = headers['webhook-signature'] as string
    assert.ok(!verifySignature({ headers, body: Buffer.from('{"object_kind": "push"}') }, [key], now))
    assert.ok(!verifySignature({ headers, body }, [generateSecret()], now))
    for (const changed of [
      { 'webhook-id': 'another' },
      { 'webhook-timestamp': String(now / 1_000 + 1) },
      { 'webhook-timestamp': `${now / 1_000}.0` },
      { 'webhook-timestamp': 'NaN' },
      { 'webhook-signature': signature.replace('v1,', 'v2,') },
      { 'webhook-signature': signature.replace('v1,', '') },
      { 'webhook-signature': '' },
      { 'webhook-signature': `${signature}, ${signature}` },
    ]) {
      assert.ok(!verifySignature({ headers: { ...headers, ...changed }, body }, [key], now), JSON.stringify(changed))
    }
    const repeated = { ...headers, 'webhook-signature': [signature, signature] }
    assert.ok(!verifySignature({ headers: repeated, body }, [key], now))
  })

  test('GitLab does not fall back to the token if the delivery has a signature and a signing key exists', () => {
    const { headers } = gitlabSigned(generateSecret(), 'Push Hook', body, now)
    assert.ok(!verifySignature({ headers: { ...headers, 'x-gitlab-token': key }, body }, [key], now))
    assert.ok(verifySignature({ headers: { ...headers, 'x-gitlab-token': secret }, body }, [secret], now))
  })

  test('an empty GitLab signing key accepts nothing, not even a delivery signed with it', () => {
    const delivery = gitlabSigned('whsec_', 'Push Hook', body, now)
    const signed = `${delivery.headers['webhook-id']}.${now / 1_000}.${body}`
    const signature = createHmac('sha256', '').update(signed).digest('base64')
    assert.equal(delivery.headers['webhook-signature'], `v1,${signature}`)
    assert.ok(!verifySignature(delivery, ['whsec_'], now))
  })
})
