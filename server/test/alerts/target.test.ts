import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { validTarget } from '../../src/alerts/target.ts'

const rules = { allowPrivate: false, hasMail: true }

function problemOf(...args: Parameters<typeof validTarget>): string {
  try {
    return `accepted as ${validTarget(...args).target}`
  } catch (error) {
    return (error as Error).message
  }
}

describe('The target of a webhook or Slack alert', () => {
  test('a webhook or Slack target is an https URL, and only its host is shown', () => {
    for (const channel of ['webhook', 'slack'] as const) {
      const { target, hint } = validTarget(channel, ' https://Hooks.Example:8443/services/T0/B0/secret?k=1#x ', rules)
      assert.equal(target, 'https://hooks.example:8443/services/T0/B0/secret?k=1')
      assert.equal(hint, 'hooks.example:8443')
      for (const url of [
        'http://hooks.example/',
        'ftp://hooks.example/',
        'javascript:alert(1)',
        'hooks.example',
        'https://',
      ]) {
        assert.match(problemOf(channel, url, rules), /^target must be an https URL/, url)
      }
    }
  })

  test('a target may be plain http only where private targets are allowed', () => {
    const url = 'http://10.0.0.5/hook'
    assert.equal(validTarget('webhook', url, { ...rules, allowPrivate: true }).target, url)
    assert.equal(
      problemOf('webhook', url, rules),
      'target must be an https URL. Plain http needs ALLOW=private-alert-targets',
    )
  })

  test('a target has no user name, password, line break or excessive length', () => {
    assert.equal(
      problemOf('webhook', 'https://u@hooks.example/', rules),
      'target must not contain a user name or password',
    )
    assert.equal(
      problemOf('slack', 'https://u:p@hooks.example/', rules),
      'target must not contain a user name or password',
    )
    assert.equal(problemOf('webhook', 'https://a.example/\r\nx', rules), 'target must not contain control characters')
    assert.match(problemOf('webhook', `https://a.example/${'x'.repeat(2_000)}`, rules), /^target must be at most 2000/)
    assert.equal(problemOf('webhook', '', rules), 'target must not be empty')
  })
})

describe('The target of an email alert', () => {
  test('an email target is one to ten addresses', () => {
    const { target, hint } = validTarget('email', ' a@example.com; b.c+d@mail.example.com  a@example.com ', rules)
    assert.deepEqual([target, hint], ['a@example.com,b.c+d@mail.example.com', 'a@example.com, b.c+d@mail.example.com'])
    const many = (count: number) => Array.from({ length: count }, (_, i) => `a${i}@example.com`).join()
    assert.equal(validTarget('email', many(10), rules).target, many(10))
    assert.equal(problemOf('email', many(11), rules), 'target must have at most 10 email addresses')
  })

  test('an email target has nothing but addresses in it', () => {
    const wrong = [
      'a',
      'a@',
      '@b',
      'A <a@example.com>',
      '<a@example.com>',
      'a@exa mple.com',
      '"a b"@example.com',
      'a@-b.com',
    ]
    for (const text of [
      ...wrong,
      'a@b@c',
      'a@[127.0.0.1]',
      `${'a'.repeat(65)}@example.com`,
      'ä@example.com',
      ',',
      'a:b@c:d',
    ]) {
      assert.match(problemOf('email', text, rules), /^target must be email addresses such as/, text)
    }
    assert.match(problemOf('email', 'a@example.com\r\nBcc: b@example.com', rules), /^target must not contain control/)
  })

  test('an email target is rejected if the service cannot send email', () => {
    const message = 'target cannot be an email address: the operator has not set SMTP_URL'
    assert.equal(problemOf('email', 'a@example.com', { ...rules, hasMail: false }), message)
  })
})

describe('The target of a PagerDuty alert', () => {
  test('a PagerDuty target is an integration key, and only its last four characters are shown', () => {
    const key = 'R0123456789abcdefghijklmnopqrstu'
    assert.deepEqual(validTarget('pagerduty', key, rules), { target: key, hint: '…rstu' })
    assert.deepEqual(validTarget('pagerduty', `eu:${key}`, rules), { target: `eu:${key}`, hint: '…rstu' })
    for (const text of ['short', `${key}x`, `us:${key}`, key.replace('R', '/'), 'https://events.pagerduty.com/']) {
      assert.match(problemOf('pagerduty', text, rules), /^target must be the integration key/, text)
    }
  })
})

describe('The target of a Linear alert', () => {
  test('a Linear target is a team and an API key, and only the team and the last four characters of the key are shown', () => {
    const key = `lin_api_${'a'.repeat(36)}wxyz`
    const id = '9cfb482a-81e3-4154-b5b9-2c805e70a02d'
    for (const team of ['ENG', id]) {
      assert.deepEqual(validTarget('linear', `${team}:${key}`, rules), {
        target: `${team}:${key}`,
        hint: `${team}, …wxyz`,
      })
    }
    for (const text of [
      key,
      `:${key}`,
      'ENG:',
      `ENG:${key}\u00e9`,
      `E/G:${key}`,
      'ENG:lin_api_short',
      `ENG:x:${key}`,
    ]) {
      assert.match(problemOf('linear', text, rules), /^target must be the key or the ID of a team in Linear/, text)
    }
  })
})
