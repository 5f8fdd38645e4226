import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { runCli } from '../../../testing/cli.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { figures, openRegression } from '../../../testing/regressions.ts'
import { connectedScenario } from '../../../testing/scenario.ts'
import { useService } from '../../../testing/service.ts'
import type { Prompt } from '../../src/domain/prompt.ts'

onOneEngine('Undoing from the command line', (engine) => {
  const service = useService(engine)
  let address: string
  before(async () => {
    address = await service.app.listen({ port: 0, host: '127.0.0.1' })
  })

  test('a regression is found by its commit, taken on, and undone with the commands where there is no token', async () => {
    const { git, repository, tenant } = await connectedScenario(service)
    const bad = git.commit('Shorten', { 'prompts/p.md': 'No.\n' })
    git.push()
    await service.repositories.sync(repository, { wait: true })
    const prompts = await service.store.facts.prompts(repository)
    const prompt = prompts.find(({ path }) => path === 'prompts/p.md') as Prompt
    const [change] = (await service.store.history.page(prompt, { page: '1', limit: 1 })).entries
    assert.ok(change)
    await service.store.regressions.open(prompt, change, figures, service.now)
    const [regression] = await service.store.regressions.ofPrompt(prompt)
    const env = {
      PROMPTLEDGER_URL: address,
      PROMPTLEDGER_KEY: tenant.key,
      HOME: git.folder,
      XDG_CONFIG_HOME: git.folder,
    }

    const taken = await runCli(env, ['triage', String(regression?.id), '--ack', '--comment', 'Looking into it.'])
    assert.equal(taken.code, 0, taken.stderr)
    assert.match(
      taken.stdout,
      /Owner {6}ada@example\.com\nState {6}acknowledged by test\n.*\n.*test: comment Looking into it\./,
    )

    const byCommit = await runCli(env, ['triage', bad.slice(0, 10), '--snooze', '3d'])
    assert.match(byCommit.stdout, /State {6}acknowledged by test, snoozed until/, byCommit.stderr)
    const byChange = await runCli(env, ['triage', String(change.id), '--prompt', 'prompts/p.md', '--json'])
    assert.equal(JSON.parse(byChange.stdout).id, regression?.id, byChange.stderr)
    const moved = { at: service.now, between: [service.now, service.now] as [number, number], foundAt: Date.now() }
    const rates = { rateBefore: 0.9, rateAfter: 0.6, entryId: null, sharedWith: null, candidates: null }
    await service.store.shifts.replace(prompt, [{ ...moved, ...rates }])
    const listed = await runCli(env, ['regressions'])
    const [shift = ''] = /shf_[0-9a-f]{24}/.exec(listed.stdout) ?? []
    const dismissed = await runCli(env, ['triage', shift, '--owner', 'grace@example.com', '--dismiss', 'Expected.'])
    assert.match(dismissed.stdout, /Owner {6}grace@example\.com\nState {6}dismissed: Expected\.\n/, dismissed.stderr)
    const gone = await runCli(env, ['triage', shift])
    assert.deepEqual([gone.code, /no open shift with this ID/.test(gone.stderr)], [4, true])

    // A number that is the ID of one regression, and the pull request of another.
    const number = String(regression?.id)
    const ofPull = await openRegression(tenant, service.now, { prNumber: Number(number) })
    const either = await runCli(env, ['triage', number, '--dismiss', 'Expected.'])
    assert.equal(either.code, 4, either.stdout)
    assert.match(either.stderr, new RegExp(`Several open regressions match\\. Write '#${number}' for the pull request`))
    assert.match(either.stderr, new RegExp(`^  ${number}  .* change ${change.id}, ${bad.slice(0, 12)}$`, 'm'))
    const byPull = await runCli(env, ['triage', `#${number}`, '--json'])
    assert.equal(JSON.parse(byPull.stdout).id, ofPull.id, byPull.stderr)

    const reverted = await runCli(env, ['revert', bad.slice(0, 10)])
    assert.equal(reverted.code, 1)
    assert.match(reverted.stderr, /needs a token with read and write access to Contents and Pull requests/)
    assert.match(reverted.stderr, new RegExp(`^  git revert --no-edit ${bad.slice(0, 12)}$`, 'm'))
    const unknown = await runCli(env, ['revert', '#41'])
    assert.equal(unknown.code, 4)
    assert.match(unknown.stderr, /No open regression is of this change/)
  })
})
