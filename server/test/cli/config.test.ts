import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { onTestEnd } from '../../../testing/cleanup.ts'
import { readConfig, secretSettings } from '../../src/config.ts'

function failureOf(run: () => unknown): Error {
  try {
    run()
  } catch (error) {
    return error as Error
  }
  throw new Error('it did not fail')
}

describe('Settings', () => {
  test('the defaults start the service on SQLite, reachable only from this machine', () => {
    assert.deepEqual(readConfig({}), {
      databaseUrl: 'sqlite:data/promptledger.db',
      databasePoolSize: 10,
      dataDir: 'data',
      host: '127.0.0.1',
      port: 3000,
      metricsPort: null,
      metricsHost: '127.0.0.1',
      logLevel: 'info',
      firstRun: true,
      publicUrl: null,
      secretKey: null,
      oldSecretKeys: [],
      allowLocalRepositories: false,
      allowRepositoryRedirects: false,
      allowHttpRepositories: false,
      allowPrivateRepositoryAddresses: false,
      allowMachineSshKeys: false,
      mail: null,
      signIn: { provider: null, allowsEmail: true, domains: [], defaultRole: null, groups: null, problems: [] },
      allowPrivateAlertTargets: false,
      repositorySizeLimitMb: 2048,
      gitMemoryLimitMb: 96,
      syncConcurrency: 4,
      repositoriesPerOrganisation: 100,
      inboxLimitMb: 100,
      planLimits: { free: 1_000, team: 10_000, business: 100_000 },
      signalRetentionDays: null,
      telemetryDays: 14,
      trustedProxies: [],
      requestLimits: { organisationShare: 75, keyShare: 50, organisationConcurrency: 32 },
      replaced: [],
      mistyped: [],
    })
  })

  test('the data folder is the folder of the SQLite file unless DATA_DIR names another', () => {
    assert.equal(readConfig({ DATABASE_URL: 'sqlite:/var/lib/ledger/x.db' }).dataDir, '/var/lib/ledger')
    assert.equal(readConfig({ DATABASE_URL: 'sqlite:x.db' }).dataDir, '.')
    assert.equal(readConfig({ DATABASE_URL: 'postgres://h/d' }).dataDir, 'data')
    assert.equal(readConfig({ DATABASE_URL: 'sqlite:x.db', DATA_DIR: '/srv' }).dataDir, '/srv')
  })

  test('secrets can be read from files, as containers mount them', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'promptledger-config-'))
    onTestEnd(() => rm(folder, { recursive: true, force: true }))
    await writeFile(join(folder, 'url'), 'postgres://ledger:secret@db/ledger\n')
    await writeFile(join(folder, 'key'), `${'11'.repeat(32)}\n`)
    const config = readConfig({
      DATABASE_URL: 'sqlite:/data/promptledger.db',
      DATABASE_URL_FILE: join(folder, 'url'),
      PROMPTLEDGER_SECRET_KEY_FILE: join(folder, 'key'),
    })
    assert.equal(config.databaseUrl, 'postgres://ledger:secret@db/ledger')
    assert.equal(config.secretKey?.toString('hex'), '11'.repeat(32))
    assert.equal(
      failureOf(() => readConfig({ SMTP_URL_FILE: join(folder, 'none') })).message,
      'Invalid settings: SMTP_URL_FILE names a file that cannot be read (ENOENT)',
    )
  })

  test('a secret that is missing or empty is an error instead of the default, which would be a new installation', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'promptledger-config-'))
    onTestEnd(() => rm(folder, { recursive: true, force: true }))
    const problemsOf = (env: Record<string, string>) => {
      const { problems } = readConfig(Object.assign({}, env)).signIn
      return problems.map(({ message }) => message).join('; ')
    }
    for (const text of ['', ' \n', '\ufeff\r\n']) {
      await writeFile(join(folder, 'empty'), text)
      for (const name of secretSettings) {
        const env = { [name]: 'x', [`${name}_FILE`]: join(folder, 'empty') }
        const message = `${name}_FILE names an empty file. Write the secret to it, or remove the variable`
        if (name.startsWith('SIGN_IN_')) assert.equal(problemsOf(env), message)
        else assert.equal(failureOf(() => readConfig(env)).message, `Invalid settings: ${message}`)
      }
    }
    const unreadable = { '': /is empty\. Set it to the path of a file/, [folder]: /cannot be read \(EISDIR\)/ }
    for (const [path, message] of Object.entries(unreadable)) {
      for (const name of secretSettings) {
        const env = { [`${name}_FILE`]: path }
        const found = name.startsWith('SIGN_IN_') ? problemsOf(env) : failureOf(() => readConfig(env)).message
        assert.match(found, message)
        assert.ok(found.includes(`${name}_FILE `), found)
      }
    }
    assert.throws(
      () => readConfig({ DATABASE_URL: '' }),
      /DATABASE_URL is empty\. Set it, or remove it to use sqlite:data/,
    )
    assert.doesNotThrow(() => readConfig({ PORT: '', DATA_DIR: '', PUBLIC_URL: '', PROMPTLEDGER_SECRET_KEY: '' }))
  })

  test('a wrong value is shown in quotes and on one line, unless it may contain a secret', () => {
    const messageOf = (env: Record<string, string>) => failureOf(() => readConfig(env)).message
    assert.match(messageOf({ PORT: '3000 ' }), /PORT must be a number from 0 to 65535 \(it is '3000 '\)$/)
    assert.match(messageOf({ LOG_LEVEL: 'a\nb\u202e\u2028' }), / \(it is 'a\\u\{a\}b\\u\{202e\}\\u\{2028\}'\)$/)
    assert.ok(messageOf({ LOG_LEVEL: 'x'.repeat(1_000) }).endsWith(` (it is '${'x'.repeat(80)}…')`))
    for (const name of [...secretSettings.filter((name) => !name.startsWith('SIGN_IN_')), 'PUBLIC_URL', 'ALERT_FROM']) {
      assert.doesNotMatch(messageOf({ [name]: 'x://user:hunter2@host:x y' }), /hunter2/, name)
    }
  })

  test('the service is at the root of its host: PUBLIC_URL with a path, a query or a login is rejected', () => {
    const urlOf = (PUBLIC_URL: string) => readConfig({ PUBLIC_URL }).publicUrl
    assert.equal(urlOf('https://ledger.example/'), 'https://ledger.example')
    // Otherwise its cookies were not Secure.
    assert.equal(urlOf('HTTPS://Ledger.Example:443'), 'https://ledger.example')
    assert.equal(urlOf('http://[::1]:3000'), 'http://[::1]:3000')
    for (const wrong of ['/sub/', '/sub', '//', '/?a=b', '/#a']) {
      assert.throws(() => urlOf(`https://ledger.example${wrong}`), /PUBLIC_URL must be http:.*, without a path/, wrong)
    }
    assert.throws(
      () => urlOf('https://user:hunter2@ledger.example'),
      /without a path: the console is at the root of its host$/,
    )
  })

  test('a variable with almost the name of a setting is reported with the right name, and no other is', () => {
    const mistyped = {
      DATABSE_URL: 'DATABASE_URL',
      TRUSTED_PROXY: 'TRUSTED_PROXIES',
      PROMPTLEDGER_PORT: 'PORT',
      PROMPTLEDGER_DATABASE_URL: 'DATABASE_URL',
      PROMPTLEDGER_DATA_DIRS: 'DATA_DIR',
      PROMPTLEDGER_SECRET_KEYFILE: 'PROMPTLEDGER_SECRET_KEY_FILE',
      ORGANIZATION_SHARE: 'ORGANISATION_SHARE',
      PLAN_LIMIT: 'PLAN_LIMITS',
    }
    for (const [variable, setting] of Object.entries(mistyped)) {
      const expected = [`'${variable}' is no setting: did you mean ${setting}?`]
      assert.deepEqual(readConfig({ [variable]: 'x' }).mistyped, expected)
    }
    const ofOthers = [
      ...[
        'PATH',
        'HOME',
        'HOSTNAME',
        'HOSTTYPE',
        'POST',
        'PGHOST',
        'PGPORT',
        'REDIS_URL',
        'SECRET_KEY',
        'NODE_ENV',
        'SHELL',
      ],
      ...[
        'DATABASE_USER',
        'DATABASE_HOST',
        'DATABASE_NAME',
        'TEST_DATABASE_URL',
        'SMTP_HOST',
        'SMTP_USER',
        'PUBLIC_KEY',
      ],
      ...[
        'PROMPTLEDGER_KEY',
        'PROMPTLEDGER_URL',
        'PROMPTLEDGER_SIGNING_KEY',
        'WEB_CONCURRENCY',
        'XDG_DATA_DIRS',
        'ALLOWED',
      ],
    ]
    // The last ones are what Kubernetes sets for services called promptledger and promptledger-metrics.
    const env = {
      ...Object.fromEntries(ofOthers.map((name) => [name, 'x'])),
      PROMPTLEDGER_PORT: 'tcp://10.0.0.1:3000',
      PROMPTLEDGER_METRICS_PORT: 'tcp://10.0.0.1:9464',
      PROMPTLEDGER_SERVICE_HOST: '10.0.0.1',
      PROMPTLEDGER_SERVICE_PORT: '3000',
      PROMPTLEDGER_PORT_3000_TCP_ADDR: '10.0.0.1',
    }
    assert.deepEqual(readConfig(env).mistyped, [])
  })

  test('old secret keys are a list, and one that is malformed is rejected', () => {
    const [first, second] = ['11'.repeat(32), '22'.repeat(32)]
    const { oldSecretKeys } = readConfig({ PROMPTLEDGER_OLD_SECRET_KEYS: `${first}, ${second}` })
    assert.deepEqual(
      oldSecretKeys.map((key) => key.toString('hex')),
      [first, second],
    )
    assert.throws(() => readConfig({ PROMPTLEDGER_OLD_SECRET_KEYS: `${first},short` }), /OLD_SECRET_KEYS must be keys/)
  })

  test('plan limits are numbers or unlimited, and plans that are not in the list keep their default', () => {
    const limitsOf = (PLAN_LIMITS: string) => readConfig({ PLAN_LIMITS }).planLimits
    assert.deepEqual(limitsOf('free=5,team=unlimited,business=999999999'), {
      free: 5,
      team: null,
      business: 999_999_999,
    })
    assert.deepEqual(limitsOf(' free = unlimited '), { free: null, team: 10_000, business: 100_000 })
    for (const value of [
      'free',
      'free=',
      'free=0',
      'free=-1',
      'free=1e3',
      'free=1000000000',
      'free=1,free=2',
      'gold=1',
      'free=1=2',
      'free=1,',
      'Free=1',
      'free=Unlimited',
    ]) {
      assert.throws(
        () => limitsOf(value),
        /^Error: Invalid settings: PLAN_LIMITS must be a list such as free=1000,/,
        value,
      )
    }
  })

  test('email needs a mail server and a sender, and the error does not repeat the password', () => {
    const mailOf = (SMTP_URL: string, ALERT_FROM: string) => readConfig({ SMTP_URL, ALERT_FROM }).mail
    const url = 'smtps://user:secret@mail.example.com:465'
    assert.deepEqual(mailOf(url, 'alerts@example.com'), {
      url,
      from: { name: 'Promptledger', address: 'alerts@example.com' },
    })
    assert.deepEqual(mailOf(url, 'Acme alerts <alerts@example.com>')?.from, {
      name: 'Acme alerts',
      address: 'alerts@example.com',
    })
    assert.equal(mailOf('', 'alerts@example.com'), null)
    assert.throws(() => mailOf(url, ''), /^Error: Invalid settings: ALERT_FROM must be set if SMTP_URL is$/)
    for (const from of ['alerts', 'a@b>', '<a@b', 'a@b, c@d', 'a@b\r\nBcc: c@d', '"x" <a@b>', 'x\n<a@b>']) {
      assert.throws(() => mailOf(url, from), /^Error: Invalid settings: ALERT_FROM must be an address/, from)
    }
    for (const wrong of ['mail.example.com', 'http://user:secret@mail.example.com', 'smtp://', 'smtps:secret']) {
      const { message } = failureOf(() => mailOf(wrong, 'alerts@example.com'))
      assert.match(message, /SMTP_URL must be smtp:/, wrong)
      assert.doesNotMatch(message, /secret/)
    }
  })

  test('replaced settings still work, and say what replaces them', () => {
    const { replaced, ...old } = readConfig({
      ALLOW_HTTP_REPOSITORIES: '1',
      ALLOW_MACHINE_SSH_KEYS: '0',
      METRICS_PORT: '9464',
      METRICS_HOST: '0.0.0.0',
      KEY_SHARE: '100',
      ORGANISATION_SHARE: '100',
      ORGANISATION_CONCURRENCY: '64',
      INBOX_LIMIT: '200',
    })
    assert.deepEqual(replaced, [
      'METRICS_HOST still works, but is replaced by METRICS_PORT=<address>:<port>',
      'ALLOW_HTTP_REPOSITORIES still works, but is replaced by ALLOW=http-repositories',
      'ALLOW_MACHINE_SSH_KEYS still works, but is replaced by ALLOW=machine-ssh-keys',
      'INBOX_LIMIT still works, but no longer needs to be set',
      'KEY_SHARE still works, but follows from ORGANISATION_SHARE',
      'ORGANISATION_CONCURRENCY still works, but no longer needs to be set',
    ])
    assert.equal(old.inboxLimitMb, 200)
    assert.equal(old.requestLimits.organisationConcurrency, 64)
    const now = readConfig({ ALLOW: 'http-repositories', METRICS_PORT: '0.0.0.0:9464', ORGANISATION_SHARE: '100' })
    const dropped = { inboxLimitMb: 200, requestLimits: old.requestLimits }
    assert.deepEqual({ ...now, ...dropped }, { ...old, replaced: [] })
    assert.equal(now.requestLimits.keyShare, 100)
  })

  test('ALLOW is a list, and an unknown permission is rejected', () => {
    const config = readConfig({ ALLOW: 'local-repositories, private-alert-targets' })
    assert.deepEqual([config.allowLocalRepositories, config.allowPrivateAlertTargets], [true, true])
    assert.equal(config.allowHttpRepositories, false)
    assert.throws(() => readConfig({ ALLOW: 'everything' }), /ALLOW must be a list of local-repositories, /)
  })

  test('metrics are served on this machine only, unless METRICS_PORT names another address', () => {
    const addressOf = (METRICS_PORT: string) => {
      const { metricsHost, metricsPort } = readConfig({ METRICS_PORT })
      return [metricsHost, metricsPort]
    }
    assert.deepEqual(addressOf('9464'), ['127.0.0.1', 9464])
    assert.deepEqual(addressOf('0.0.0.0:9464'), ['0.0.0.0', 9464])
    assert.deepEqual(addressOf('[::]:9464'), ['::', 9464])
    assert.throws(() => addressOf('0.0.0.0:99999'), /METRICS_PORT must be/)
  })

  test('settings cannot be changed after they are read', () => {
    assert.throws(() => {
      ;(readConfig({}) as { port: number }).port = 1
    }, TypeError)
  })

  test('a mistake in how people sign in does not stop the start, and nothing is guessed from the rest', () => {
    const right = {
      SIGN_IN_ISSUER: 'https://id.example.com/realms/a',
      SIGN_IN_CLIENT_ID: 'ledger',
      SIGN_IN_CLIENT_SECRET: 'secret',
      SIGN_IN_ROLE: 'viewer',
      SIGN_IN_GROUPS: 'teams: Staff, all=member, leads=admin',
    }
    const problemsOf = (env: Record<string, string>) => {
      const { problems, provider, allowsEmail } = readConfig({ ...right, ...env }).signIn
      assert.equal(provider === null, problems.length > 0)
      assert.equal(allowsEmail, false)
      return problems.map(({ setting }) => setting)
    }
    assert.deepEqual(problemsOf({ SIGN_IN_GROUPS: 'staff=member, leads=admin' }), [])
    assert.deepEqual(readConfig({ ...right, SIGN_IN_GROUPS: 'teams: a=b=viewer' }).signIn.groups, {
      claim: 'teams',
      roles: { 'a=b': 'viewer' },
    })
    const wrong = {
      SIGN_IN_ISSUER: ['http://id.example.com', 'id.example.com', 'https://id.example.com/?a=b'],
      SIGN_IN_CLIENT_ID: [''],
      SIGN_IN_CLIENT_SECRET: [''],
      SIGN_IN_DOMAINS: ['@example.com', 'example'],
      SIGN_IN_ROLE: ['owner'],
      SIGN_IN_GROUPS: ['staff', 'staff=owner', right.SIGN_IN_GROUPS],
    }
    for (const [setting, values] of Object.entries(wrong)) {
      const groups = setting === 'SIGN_IN_GROUPS' ? {} : { SIGN_IN_GROUPS: '' }
      for (const value of values) assert.deepEqual(problemsOf({ ...groups, [setting]: value }), [setting], value)
    }
    // Everyone in the world has an account there.
    for (const issuer of ['https://accounts.google.com', 'https://github.com', 'https://gitlab.com']) {
      const env = { SIGN_IN_ISSUER: issuer, SIGN_IN_GROUPS: '' }
      assert.deepEqual(problemsOf(env), ['SIGN_IN_DOMAINS'])
      assert.deepEqual(problemsOf({ ...env, SIGN_IN_DOMAINS: 'example.com' }), [])
      assert.deepEqual(problemsOf({ ...env, SIGN_IN_ROLE: '' }), [])
    }
  })

  test('.env.example lists every setting with its default', () => {
    const example = readFileSync(new URL('../../../.env.example', import.meta.url), 'utf8')
    const lines = example.split('\n').filter((line) => /^#?[A-Z_]+=/.test(line))
    const listed = Object.fromEntries(lines.map((line) => line.replace(/^#/, '').split(/=(.*)/s).slice(0, 2)))
    assert.deepEqual(readConfig(listed), readConfig({}))
    const source = readFileSync(new URL('../../src/config.ts', import.meta.url), 'utf8')
    const names = new Set(
      [...source.matchAll(/(?<!readOld\(\s*)'([A-Z][A-Z_]{3,})'|env\.([A-Z_]+)/g)].map(([, a, b]) => a ?? b),
    )
    assert.deepEqual(new Set(Object.keys(listed)), names)
  })
})
