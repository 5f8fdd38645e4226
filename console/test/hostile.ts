import assert from 'node:assert/strict'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { after } from 'node:test'
import { newApiKey, newSecret } from '../../server/src/domain/access/api-key.ts'
import { operator } from '../../server/src/domain/access/audit.ts'
import { newOrganisation } from '../../server/src/domain/access/organisation.ts'
import { newHistoryEntry } from '../../server/src/domain/history/entry.ts'
import { newPrompt, type Prompt } from '../../server/src/domain/prompt.ts'
import { connectRepository } from '../../server/src/follow/connect.ts'
import { syncOnce, syncWithLease } from '../../server/src/follow/worker.ts'
import { GitRepository } from '../../testing/git-repository.ts'
import { deliveries } from '../../testing/payloads.ts'
import { inPortions } from '../../testing/recording.ts'
import { deployed, type TestService } from '../../testing/service.ts'

const image = '<img src=x onerror="window.__pwned=1">'
const script = '"><script>window.__pwned=1</script>'
const braces = "{{constructor.constructor('window.__pwned=1')()}}"
const turned = '\u202Egpj.exe'
const family = '👩‍👩‍👧‍👦'
const nasty = `${image}${script}${braces}${turned}${family}`
/** As a file may be called: no slash. */
const nastyName = `${image}${braces}${turned}${family}`
const runs = 'javascript:window.__pwned=1'
const day = 86_400_000

function longWord(length: number): string {
  return 'w'.repeat(length)
}

/** What a page of the organisation is to show, letter by letter. */
export interface HostilePage {
  at: string
  shows: string[]
  /** What to click on to see it. */
  open?: string[]
  refused?: string[]
}

/** An organisation in which everything that has a name has a hostile one. */
export async function hostileOrganisation(service: TestService): Promise<{ key: string; pages: HostilePage[] }> {
  const { store, now } = service
  const organisation = await store.organisations.create(newOrganisation(nasty, 'free', now))
  const named = (name: string, secret: string) =>
    newApiKey(secret, { organisationId: organisation.id, name, role: 'admin', createdAt: now, expiresAt: null })
  const key = newSecret()
  await store.keys.create(named(nasty, key), operator)
  await store.keys.create(named(longWord(200), newSecret()), operator)

  const git = new GitRepository()
  after(() => git.remove())
  const path = `prompts/${nastyName}.md`
  const at = (daysAgo: number) => ({ at: new Date(now - daysAgo * day).toISOString() })
  git.commit('Start', { [path]: `${nasty}\nStay.\n` }, at(3))
  git.commit(`${nasty}\n\n${longWord(1_000)}`, { [path]: `${nasty} more\nStay.\n${longWord(1_000)}\n` }, at(2))
  git.push()
  const url = join(git.folder, nastyName)
  symlinkSync(git.remote, url)
  const terms = { forge: 'github', path: 'prompts/**', similarity: 100, token: null, secret: null } as const
  const connection = { organisationId: organisation.id, url, ...terms }
  const { lease, secret } = await connectRepository(service.follow, connection, operator)
  await syncWithLease(service.follow, lease)
  const [followed] = (await store.facts.prompts(lease.repository)) as [Prompt]

  const told = await store.prompts.create(newPrompt(organisation.id, nasty, now), operator)
  await store.prompts.create(newPrompt(organisation.id, longWord(1_000), now), operator)
  const entry = { ...deployed(now - day), user: { name: nasty, email: nasty }, branchName: nasty }
  const { id } = await store.history.record(told, newHistoryEntry(entry))
  const long = { ...deployed(now - 2 * day), user: { name: longWord(1_000), email: 'a' }, branchName: longWord(1_000) }
  await store.history.record(told, newHistoryEntry(long))
  const pull = { ...entry, action: 'pr_opened', prNumber: 7 } as const
  await store.history.record(told, newHistoryEntry({ ...pull, prUrl: `https://example.com/${nasty}` }))
  // What checks entries refuses this one; the store has seen others check.
  await store.history.record(told, { ...pull, prUrl: runs, dedupeKey: 'hostile' })

  const metadata = JSON.stringify({ [nasty]: nasty, [longWord(1_000)]: longWord(1_000), deep: { [nasty]: [nasty] } })
  const signal = { organisationId: organisation.id, promptId: told.id, value: 'positive', metadata } as const
  await store.signals.import(inPortions([{ ...signal, createdAt: now - 1_000 }]))

  const { headers, body } = deliveries('github', secret).signed(image, Buffer.from(JSON.stringify({ zen: nasty })))
  const hook = `/webhooks/${lease.repository.hookId}`
  const { statusCode } = await service.app.inject({ method: 'POST', url: hook, headers, payload: body })
  assert.equal(statusCode, 202)
  git.remove()
  await store.repositories.wake(lease.repository, now)
  await assert.rejects(syncOnce(service.follow, lease.repository.id))

  const [strange, noId] = [image, '"><b>'].map(encodeURIComponent)
  return {
    key,
    pages: [
      { at: '/prompts', shows: [nasty, `${path}`, longWord(1_000)] },
      { at: `/prompts?q=${encodeURIComponent(`${nasty}!`)}`, shows: [`No prompt has “${nasty}!” in its name`] },
      { at: `/prompts?sort=${strange}&page=${strange}`, shows: [nasty] },
      { at: `/prompts/${followed.publicId}?range=${strange}&action=${strange}&from=${strange}`, shows: [nasty, path] },
      {
        at: `/prompts/${followed.publicId}`,
        open: ['.timeline-title'],
        shows: [path, nasty, `${nasty} more`, longWord(1_000)],
      },
      { at: `/prompts/${told.publicId}?entry=${id}`, shows: [nasty, longWord(1_000), '#7', 'The text is not known'] },
      {
        at: `/prompts/${told.publicId}/signals`,
        open: ['summary'],
        shows: [nasty.slice(0, 80), JSON.stringify(nasty)],
      },
      { at: `/prompts/${noId}`, shows: ['There is nothing here'], refused: [`404 GET /api/v1/prompts/${noId}`] },
      { at: '/usage', shows: [nasty] },
      { at: '/keys', shows: [nasty, longWord(200)] },
      { at: '/keys', open: ['[aria-label^="Rotate "]'], shows: [`Rotate “${nasty}”`] },
      { at: '/keys', open: ['[aria-label^="Revoke "]'], shows: [`Revoke “${nasty}”?`] },
      { at: '/repositories', shows: [url, 'Failing'] },
      { at: `/repositories/${lease.repository.id}`, shows: [url, image, 'The last sync failed'] },
      {
        at: `/repositories/${lease.repository.id}`,
        open: ['.button.danger'],
        shows: ['Disconnect this repository?', url],
      },
    ],
  }
}
