import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { messages } from '../../../testing/alert-messages.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { ForgeApiServer } from '../../../testing/forge-api.ts'
import { regressionMessage, toldPrompt } from '../../../testing/regression-message.ts'
import { openTestStore, type TestService, useService } from '../../../testing/service.ts'
import { createReportOnPull, type PullCommentContext } from '../../src/alerts/pull-comment.ts'
import { type Actor, operator } from '../../src/domain/access/audit.ts'
import type { RegressionMessage, TrialMessage } from '../../src/domain/alerts/message.ts'
import {
  type ForgeName,
  forgeNames,
  generateHookId,
  type Repository,
} from '../../src/domain/repositories/repository.ts'
import { minute } from '../../src/domain/time.ts'
import { sendRequest } from '../../src/net/request.ts'

interface Stage {
  forge: ForgeApiServer
  repository: Repository
  context: PullCommentContext
}

/** A forge with one pull request, and a repository on it that is reported on. */
async function stage(
  service: TestService,
  name: ForgeName,
  { by = operator, ...changes }: { by?: Actor; url?: string; token?: string | null; installedAt?: string } = {},
): Promise<Stage> {
  const forge = await new ForgeApiServer(name).start()
  forge.installedAt = changes.installedAt ?? ''
  forge.commits.add('a1'.repeat(20))
  const { store, syncContext } = service
  const hookId = generateHookId()
  const token = changes.token === undefined ? forge.token : changes.token
  const organisation = await service.organisation()
  const repository = await store.repositories.connect(
    {
      organisationId: organisation.id,
      forge: name,
      url: changes.url ?? forge.cloneUrl,
      path: 'prompts/**/*.md',
      similarity: 50,
      hookId,
      sealedToken: token === null ? null : syncContext.vault.encrypt(token, { hookId, kind: 'token' }),
      sealedSecret: '',
      reportsOnPulls: true,
      createdAt: service.now,
    },
    by,
  )
  assert(repository !== null)
  return { forge, repository, context: contextOf(service, forge) }
}

function contextOf(service: TestService, { origin }: ForgeApiServer): PullCommentContext {
  return {
    store: service.store,
    vault: service.syncContext.vault,
    clock: () => service.now,
    publicUrl: () => 'https://ledger.example',
    allowPrivateAddresses: false,
    allowHttp: false,
    log: { warn: (_details, message) => assert.fail(message) },
    // Bitbucket Cloud has one address for all, so only the host is another one here.
    send: (network, url, options) =>
      sendRequest(network, url.replace(/^https:\/\/api\.bitbucket\.org/, origin), options),
  }
}

const problemOf = async ({ store }: TestService, { id }: Repository) => (await store.repositories.find(id))?.reportError

onOneEngine('Reports on pull requests', (engine) => {
  const service = useService(engine)

  for (const name of forgeNames) {
    describe(`of ${name}`, () => {
      test('a pull request gets one comment, which is edited when it is repaired, and its commit a status', async () => {
        const { forge, repository, context } = await stage(service, name)
        const report = createReportOnPull(context)

        assert.deepEqual(await report(regressionMessage(repository)), {
          outcome: 'sent',
          status: 201,
          response: null,
          error: null,
        })
        const [comment] = forge.comments
        assert.match(comment?.text ?? '', /users rate 1 prompt worse since this change/)
        assert.match(forge.statuses.at(-1)?.state ?? '', /^fail/i)
        assert.equal(forge.statuses.at(-1)?.url, 'https://ledger.example/prompts/pmt_4Rk7pQ2mXw9Z?entry=345')

        const repaired = regressionMessage(repository, {
          event: 'regression.repaired',
          at: regressionMessage(repository).at + minute,
          prompts: [toldPrompt({ state: 'repaired', repairedBy: 'rate' })],
        })
        assert.equal((await report(repaired)).outcome, 'sent')
        assert.equal(forge.comments.length, 1)
        assert.match(comment?.text ?? '', /repaired, users rate 1 prompt as before this change/)
        assert.match(forge.statuses.at(-1)?.state ?? '', /^success/i)
        assert.equal(new Set(forge.statuses.map(({ context }) => context)).size, 1)
        assert.equal(await problemOf(service, repository), null)
      })

      test('a trial has a comment and a status of its own, which are edited while it runs', async () => {
        const { forge, repository, context } = await stage(service, name)
        const report = createReportOnPull(context)
        const of = (event: TrialMessage['event'], minutes: number): TrialMessage => {
          const message = messages[event] as TrialMessage
          const trial = { ...message.trial, repositoryId: repository.id, prNumber: 7, commitSha: 'a1'.repeat(20) }
          const organisation = { id: repository.organisationId, name: 'Acme' }
          const prompt = { publicId: 'pmt_4Rk7pQ2mXw9Z', name: 'a`|@everyone #1' }
          return { ...message, trial, organisation, at: message.at + minutes * minute, prompts: [{ prompt }] }
        }
        assert.equal((await report(regressionMessage(repository))).outcome, 'sent')
        assert.equal((await report(of('trial.started', 0))).outcome, 'sent')
        assert.equal(forge.comments.length, 2)
        assert.match(forge.comments[1]?.text ?? '', /running, no verdict yet/)
        assert.match(forge.comments[1]?.text ?? '', /\d+% of the units get `a1a1a1a`/)
        assert.match(forge.statuses.at(-1)?.state ?? '', /^success/i)
        assert.equal((await report(of('trial.worse', 1))).outcome, 'sent')
        assert.equal(forge.comments.length, 2)
        const text = forge.comments[1]?.text ?? ''
        assert.match(text, /users rate this commit lower than the live version. Stopped/)
        assert.match(text, /has ended: everyone gets the live version/)
        assert.doesNotMatch(text, /of the units get/)
        assert.match(text, /\| This commit \| 127 \| 60 \| 60% \|/)
        assert.match(text, /Difference −25 points, with 95% confidence from −37 to −12/)
        assert.doesNotMatch(text, /@everyone|a`\|/)
        assert.match(forge.statuses.at(-1)?.state ?? '', /^fail/i)
        assert.equal(new Set(forge.statuses.map(({ context }) => context)).size, 2)
        const { trial, organisation, at } = of('trial.worse', 2)
        const refused = {
          repositoryId: repository.id,
          prNumber: 7,
          commitSha: trial.commitSha,
          reason: 'eve @everyone',
        }
        assert.equal((await report({ event: 'trial.refused', at, organisation, ...refused })).outcome, 'sent')
        assert.equal(forge.comments.length, 2)
        assert.match(forge.comments[1]?.text ?? '', /this label starts no trial\*\*\n\n`eve @\u2060everyone`/)
      })

      test('repeating a message changes nothing, and an older one does not replace a newer one', async () => {
        const { forge, repository, context } = await stage(service, name)
        const report = createReportOnPull(context)
        const opened = regressionMessage(repository)
        const withdrawn = { ...opened, at: opened.at + minute, prompts: [toldPrompt({ state: 'withdrawn' })] }
        assert.equal((await report(opened)).outcome, 'sent')
        assert.equal((await report(opened)).outcome, 'sent')
        assert.equal((await report(withdrawn)).outcome, 'sent')
        assert.equal((await report(opened)).outcome, 'sent')
        assert.equal(forge.comments.length, 1)
        assert.match(forge.comments[0]?.text ?? '', /taken back/)
        assert.match(forge.statuses.at(-1)?.state ?? '', /^success/i)
      })

      test('a change without a pull request gets only the status', async () => {
        const { forge, repository, context } = await stage(service, name)
        const { change } = regressionMessage(repository)
        const direct = regressionMessage(repository, { change: { ...change, prNumber: null, prUrl: null } })
        assert.equal((await createReportOnPull(context)(direct)).outcome, 'sent')
        assert.deepEqual(forge.comments, [])
        assert.equal(forge.statuses.length, 1)
      })

      test('a comment whose ID a crash kept from being stored is found again and edited', async () => {
        const { forge, repository, context } = await stage(service, name)
        const report = createReportOnPull(context)
        for (let i = 0; i < 25; i++) forge.comment(7, `Comment ${i}`)
        // The status, the lists of comments, and then the forge dies after it has stored the new one.
        const lists = name === 'gitea' || name === 'forgejo' ? 1 : 3
        forge.before = async () => {
          if (forge.requests.length === 1 + lists + 1) forge.planned.push({ status: 201, afterwards: true })
        }
        assert.equal((await report(regressionMessage(repository))).outcome, 'retry')
        assert.equal(forge.comments.length, 26)

        const own = forge.comments.at(-1)
        forge.comment(7, `> ${own?.text.replaceAll('\n', '\n> ')}\n\nIndeed`)
        assert.equal((await report(regressionMessage(repository))).outcome, 'sent')
        assert.equal(forge.comments.filter(({ author }) => author === 'ledger').length, 1)
        assert.match(forge.requests.at(-1) ?? '', new RegExp(`^(PATCH|PUT) .*/${own?.id}$`))
      })

      test('a scope that the token lacks is named, on the repository too, until another report succeeds', async () => {
        const { forge, repository, context } = await stage(service, name)
        const report = createReportOnPull(context)
        forge.canComment = false
        const attempt = await report(regressionMessage(repository))
        // The status was set, so the end has to be told later.
        assert.equal(attempt.outcome, 'sent')
        assert.equal(attempt.status, 403)
        const scope = {
          github: /Pull requests and Commit statuses/,
          gitlab: /the scope api/,
          gitea: /write:issue and write:repository/,
          forgejo: /write:issue and write:repository/,
          bitbucket: /pullrequest:write and repository:write/,
        }[name]
        assert.match(attempt.error ?? '', /^Cannot comment on the pull request on /)
        assert.match(attempt.error ?? '', scope)
        assert.equal(await problemOf(service, repository), attempt.error)
        assert.equal(forge.statuses.length, 1)
        forge.canSetStatus = false
        assert.equal((await report(regressionMessage(repository))).outcome, 'rejected')

        Object.assign(forge, { canComment: true, canSetStatus: true })
        assert.equal((await report(regressionMessage(repository))).outcome, 'sent')
        assert.equal(await problemOf(service, repository), null)
      })

      test('a comment that succeeds without the status is kept, and the status named', async () => {
        const { forge, repository, context } = await stage(service, name)
        const report = createReportOnPull(context)
        forge.canSetStatus = false
        const attempt = await report(regressionMessage(repository))
        assert.equal(attempt.outcome, 'sent')
        assert.match(attempt.error ?? '', /^Cannot set the commit status on /)
        assert.equal(await problemOf(service, repository), attempt.error)
        forge.canSetStatus = true
        assert.equal((await report(regressionMessage(repository))).outcome, 'sent')
        assert.equal(forge.comments.length, 1)
      })

      test('a commit that the forge does not have is named, and the comment is written all the same', async () => {
        const { forge, repository, context } = await stage(service, name)
        forge.commits.clear()
        const { outcome, status, error } = await createReportOnPull(context)(regressionMessage(repository))
        assert.equal(outcome, 'sent')
        assert([404, 422].includes(status ?? 0))
        assert.match(error ?? '', /^Cannot set the commit status on .*: it responds with 4\d\d, “.*commit/i)
        assert.equal(forge.comments.length, 1)
      })

      test('a wrong token, a repository that is gone and one that was renamed are told apart', async () => {
        const { forge, repository, context } = await stage(service, name)
        const report = createReportOnPull(context)
        const message = regressionMessage(repository)
        forge.token = 'another token'
        const unauthorised = await report(message)
        assert.deepEqual([unauthorised.outcome, unauthorised.status], ['rejected', 401])
        assert.match(unauthorised.error ?? '', /invalid or expired\. Set a new one with /)
        assert.doesNotMatch(JSON.stringify(unauthorised), /forge-token-1/)

        forge.token = 'forge-token-1'
        forge.repository = 'acme/elsewhere'
        const gone = await report(message)
        assert.deepEqual([gone.outcome, gone.status], ['rejected', 404])
        assert.match(gone.error ?? '', /The token does not reach it, or it was deleted/)

        const headers = { location: 'http://127.0.0.1:1/elsewhere' }
        forge.planned.push({ status: 301, headers }, { status: 307, headers })
        const renamed = await report(message)
        assert.deepEqual([renamed.outcome, renamed.status], ['rejected', 307])
        assert.match(renamed.error ?? '', /the repository was renamed or moved\. Change its URL\./)
      })

      test('an overloaded forge is tried again, after the time that it asks for', async () => {
        const { forge, repository, context } = await stage(service, name)
        const report = createReportOnPull(context)
        const busy = { status: 429, headers: { 'retry-after': '120' }, body: { message: 'Too Many Requests' } }
        forge.planned.push(busy, busy)
        const limited = await report(regressionMessage(repository))
        assert.deepEqual([limited.outcome, limited.status, limited.retryAfterMs], ['retry', 429, 120_000])
        forge.planned.push({ status: 502, body: '<html>Bad Gateway</html>' })
        assert.equal((await report(regressionMessage(repository))).outcome, 'retry')
        assert.equal(await problemOf(service, repository), null)
        assert.equal((await report(regressionMessage(repository))).outcome, 'sent')
        assert.equal(forge.comments.length, 1)
      })

      test('two replicas with the same message create one comment', async () => {
        const { forge, repository, context } = await stage(service, name)
        const other = await openTestStore(service.url, () => service.now)
        const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
        forge.before = () => {
          asked.resolve()
          return answered.promise
        }
        const first = createReportOnPull(context)(regressionMessage(repository))
        await asked.promise
        const second = await createReportOnPull({ ...context, store: other })(regressionMessage(repository))
        answered.resolve()
        assert.deepEqual([(await first).outcome, second.outcome], ['sent', 'retry'])
        assert.equal(forge.comments.length, 1)
      })

      test('ten prompts of one pull request are one comment', async () => {
        const { forge, repository, context } = await stage(service, name)
        const prompts = Array.from({ length: 10 }, (_, i) => toldPrompt({ name: `prompts/${i}.md` }))
        assert.equal((await createReportOnPull(context)(regressionMessage(repository, { prompts }))).outcome, 'sent')
        assert.equal(forge.comments.length, 1)
        assert.match(forge.comments[0]?.text ?? '', /users rate 10 prompts worse/)
        for (const { prompt } of prompts) assert(forge.comments[0]?.text.includes(`\`${prompt.name}\``))
      })

      test('a comment that would be longer than the forge accepts lists fewer prompts', async () => {
        const { forge, repository, context } = await stage(service, name)
        const explanation = '*'.repeat(2_000)
        const prompts = Array.from({ length: 200 }, () => toldPrompt({ name: '@'.repeat(200), explanation }))
        assert.equal((await createReportOnPull(context)(regressionMessage(repository, { prompts }))).error, null)
        const listed = forge.comments[0]?.text.match(/^- /gm)?.length ?? 0
        assert(listed >= 10 && listed <= 20)
        assert(forge.comments[0]?.text.includes(`And ${200 - listed} more prompts.`))
      })

      test('text of others cannot mention people, refer to issues, run quick actions or embed anything', async () => {
        const { forge, repository, context } = await stage(service, name)
        const hostile = [
          '/close',
          '@octocat please look',
          'fixes #1, closes !2, resolves GH-3',
          '`@octocat` ~bug %1 &1 $1',
          '![x](https://evil.example/x.png)',
          '[x](https://evil.example) www.evil.example https://evil.example',
          '<img src=x onerror=alert(1)><!-- -->',
          '&#64;octocat &commat;octocat',
          '| a | b | **c** _d_',
          '[vulnerability:1] *iteration:1',
        ]
        const prompts = hostile.map((name) => toldPrompt({ name, explanation: `${name} ${name}` }))
        const message = regressionMessage(repository, { prompts, title: '/close\n@octocat' })
        assert.equal((await createReportOnPull(context)(message)).outcome, 'sent')
        const text = forge.comments[0]?.text ?? ''
        assert.equal(text.split('\n').filter((each) => each.startsWith('| [')).length, hostile.length)
        assertInert(text)
        assert(!text.includes('Shorten') && !text.includes('Ada'))
      })
    })
  }

  test('a comment that was deleted on the forge is created again only while something is open', async () => {
    const { forge, repository, context } = await stage(service, 'github')
    const report = createReportOnPull(context)
    const opened = regressionMessage(repository)
    await report(opened)
    const [own] = forge.comments.splice(0)
    // A reply that quotes it is not ours.
    const reply = forge.comment(7, `> ${own?.text.replaceAll('\n', '\n> ')}`)
    const quoted = reply.text
    const repaired = { ...opened, at: opened.at + 1, prompts: [toldPrompt({ state: 'repaired', repairedBy: 'rate' })] }
    assert.equal((await report(repaired)).outcome, 'sent')
    assert.deepEqual(forge.comments, [reply])
    assert.equal((await report({ ...opened, at: opened.at + 2 })).outcome, 'sent')
    assert.equal(forge.comments.length, 2)
    assert.equal(reply.text, quoted)
  })

  test('the end of what was told in part is told, and does not hide why the rest failed', async () => {
    const { forge, repository, context } = await stage(service, 'github')
    const report = createReportOnPull(context)
    forge.canComment = false
    const { error } = await report(regressionMessage(repository))
    const repaired = regressionMessage(repository, {
      at: regressionMessage(repository).at + 1,
      prompts: [toldPrompt({ state: 'repaired', repairedBy: 'rate' })],
    })
    assert.equal((await report(repaired)).error, null)
    assert.deepEqual(
      forge.statuses.map(({ state }) => state),
      ['failure', 'success'],
    )
    assert.equal(await problemOf(service, repository), error)
  })

  test('a report that waits for the other half counts as told', async () => {
    const { forge, repository, context } = await stage(service, 'github')
    forge.planned.push({ status: 503 })
    const attempt = await createReportOnPull(context)(regressionMessage(repository))
    assert.deepEqual([attempt.outcome, attempt.status], ['retry', null])
    assert.equal(forge.comments.length, 1)
  })

  test('a process that died while it reported gives up its claim after a minute', async () => {
    const { forge, repository, context } = await stage(service, 'github')
    await new Promise<void>((resolve) => {
      const send = () => {
        resolve()
        return new Promise<never>(() => {})
      }
      void createReportOnPull({ ...context, send })(regressionMessage(repository))
    })
    const report = createReportOnPull(context)
    assert.equal((await report(regressionMessage(repository))).outcome, 'retry')
    service.now += minute
    assert.equal((await report(regressionMessage(repository))).outcome, 'sent')
    assert.equal(forge.comments.length, 1)
  })

  test("users' comments are never part of a comment on a pull request", async () => {
    const { forge, repository, context } = await stage(service, 'github')
    const comments = [{ text: 'my order 4711 never came', at: service.now }]
    await createReportOnPull(context)(regressionMessage(repository, { prompts: [toldPrompt({ comments })] }))
    assert.doesNotMatch(forge.comments[0]?.text ?? '', /my order|never came/)
  })

  test("GitHub's limit of requests, which it reports with 403, is no missing scope", async () => {
    const { forge, repository, context } = await stage(service, 'github')
    const limited = {
      status: 403,
      headers: { 'x-ratelimit-remaining': '0' },
      body: { message: 'API rate limit exceeded' },
    }
    forge.planned.push(limited, limited)
    assert.equal((await createReportOnPull(context)(regressionMessage(repository))).outcome, 'retry')
    assert.equal(await problemOf(service, repository), null)
  })

  test('Gitea below a path is reached below that path', async () => {
    const { forge, repository, context } = await stage(service, 'gitea', { installedAt: '/git' })
    assert.equal((await createReportOnPull(context)(regressionMessage(repository))).outcome, 'sent')
    assert.equal(forge.comments.length, 1)
  })

  test('a repository without a token, over ssh or on Bitbucket Data Center is not reported on, and says why', async () => {
    const cases = [
      [{ token: null }, /need a token with read and write access to Pull requests/],
      [{ token: null, url: 'git@github.com:acme/prompts.git' }, /A deploy key is not enough/],
      [{ token: 'two\r\nlines' }, /characters that a request header cannot have/],
      [{ url: 'file:///srv/prompts' }, /repository URL of the form https:/],
    ] as const
    for (const [changes, expected] of cases) {
      const { forge, repository, context } = await stage(service, 'github', changes)
      const attempt = await createReportOnPull(context)(regressionMessage(repository))
      assert.equal(attempt.outcome, 'rejected')
      assert.match(attempt.error ?? '', expected)
      assert.equal(await problemOf(service, repository), attempt.error)
      assert.deepEqual(forge.requests, [])
    }
    const { repository, context } = await stage(service, 'bitbucket', {
      url: 'https://git.acme.example/scm/acme/prompts',
    })
    const attempt = await createReportOnPull(context)(regressionMessage(repository))
    assert.match(attempt.error ?? '', /Bitbucket Data Center has another API/)
  })

  test("an admin's repository is reported on only at public addresses and over https, unless the operator allows more", async () => {
    const organisation = await service.organisation()
    const admin = { keyId: 1, organisationId: organisation.id } as unknown as Actor
    const { forge, repository, context } = await stage(service, 'gitea', { by: admin })
    const message = regressionMessage(repository)
    const plain = await createReportOnPull(context)(message)
    assert.deepEqual([plain.outcome, plain.status], ['rejected', null])
    assert.match(plain.error ?? '', /ALLOW=http-repositories/)
    const hidden = await createReportOnPull({ ...context, allowHttp: true })(message)
    assert.equal(hidden.outcome, 'retry')
    assert.match(hidden.error ?? '', /cannot be reached, or its address is not public/)
    assert.deepEqual(forge.requests, [])
    const report = createReportOnPull({ ...context, allowHttp: true, allowPrivateAddresses: true })
    assert.equal((await report(message)).outcome, 'sent')
    // What servers of the operator's network say is not for admins.
    forge.planned.push({ status: 403, body: { message: 'internal' } }, { status: 403, body: { message: 'internal' } })
    const refused = await report(message)
    assert.equal(refused.status, 403)
    assert.doesNotMatch(JSON.stringify(refused), /internal/)
  })

  test('the switch, another organisation and a disconnected repository each keep the forge from being asked', async () => {
    const { forge, repository, context } = await stage(service, 'github')
    const report = createReportOnPull(context)
    const stranger: RegressionMessage = regressionMessage({
      id: repository.id,
      organisationId: repository.organisationId + 1,
    })
    assert.equal((await report(stranger)).outcome, 'rejected')
    // Entries that were recorded over the API belong to no repository.
    assert.equal((await report({ ...regressionMessage(repository), repositoryId: null })).outcome, 'rejected')
    const change = { ...repository, reportsOnPulls: false }
    const off = await service.store.repositories.update(repository, change, service.now, operator)
    assert.equal((await report(regressionMessage(repository))).outcome, 'rejected')
    await service.store.repositories.update(off, { ...off, reportsOnPulls: true }, service.now, operator)
    await service.store.repositories.disconnect(repository, service.now, operator)
    assert.equal((await report(regressionMessage(repository))).outcome, 'rejected')
    assert.deepEqual(forge.requests, [])
  })

  test('what a forge says is shown without the token, in one printable line', async () => {
    const { forge, repository, context } = await stage(service, 'github')
    const body = { message: `no\nentry \u001b[31mfor ${forge.token} ${'x'.repeat(5_000)}` }
    forge.planned.push({ status: 403, body }, { status: 403, body })
    const { error, response } = await createReportOnPull(context)(regressionMessage(repository))
    for (const text of [error ?? '', response ?? '']) {
      assert.doesNotMatch(text, /forge-token-1|\p{Cc}/u)
      assert(text.length < 1_000)
    }
  })
})

/** What forges act on outside of code spans: mentions, references, quick actions, images, HTML, links to elsewhere. */
function assertInert(text: string): void {
  const spans = /`[^`\n]*`/g
  assert.doesNotMatch(text.replaceAll(spans, ''), /`/)
  for (const [span] of text.matchAll(spans)) assert.doesNotMatch(span, /@(?!\u2060)|\|/)
  const rest = text.replaceAll(spans, '').replace(/\n\[\/\/\]: # \(promptledger [0-9a-f]{24}\)$/, '')
  assert.doesNotMatch(rest, /^\s*\//m)
  assert.doesNotMatch(rest, /[@#!~%&$][\w#]/)
  assert.doesNotMatch(rest, /GH-\d/i)
  assert.doesNotMatch(rest, /<[a-z!/]/i)
  assert.doesNotMatch(rest, /(?<!\\)!\[/)
  assert.doesNotMatch(rest, /www\./)
  for (const [url] of rest.matchAll(/https?:\/\/[^)\s]*/g)) assert.match(url, /^https:\/\/ledger\.example\/prompts\//)
  for (const [, target] of rest.matchAll(/(?<!\\)\]\(([^)]*)\)/g))
    assert.match(target ?? '', /^https:\/\/ledger\.example\//)
}
