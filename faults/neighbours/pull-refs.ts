import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../../testing/eventually.ts'
import { type Attack, check, type Site } from './attack.ts'
import { api, createRemote } from './client.ts'

const maxDelayMs = 1_000
// The tests share the machine with others, so that only a stall counts.
const maxShortDelayMs = 10_000
const syncTimeoutMs = 120_000

/** A repository with many pull requests on one commit, while another organisation connects repositories. */
export const pullRefs: Attack = {
  name: 'git: many pull requests on one commit',
  isLoad: true,
  // Git itself takes 168 MB to list 500,000 refs.
  maxMb: 430,
  async prepare(site) {
    const count = site.isShort ? 50_000 : 500_000
    const hostile = createRemote(site)
    const head = hostile.head('main')
    const refs = Array.from({ length: count }, (_, i) => `refs/pull/${i + 1}/head`).sort()
    hostile.inRemote('pack-refs', '--all')
    appendFileSync(join(hostile.remote, 'packed-refs'), refs.map((ref) => `${head} ${ref}\n`).join(''))
    const { remote } = createRemote(site)
    const idleMs = await longestConnect(site, remote)
    return async () => {
      const attack = connectAndSync(site, hostile.remote)
      const longestMs = await longestConnect(site, remote, attack)
      await attack
      const limitMs = idleMs + (site.isShort ? maxShortDelayMs : maxDelayMs)
      check(
        longestMs <= limitMs,
        `the neighbour waited ${longestMs} ms to connect a repository, and ${idleMs} ms before`,
      )
      return `${count} refs; the neighbour connected repositories in ${longestMs} ms, and ${idleMs} ms before`
    }
  },
}

/** Connects the repository of the attacker, and waits until it is synced. */
async function connectAndSync(site: Site, url: string): Promise<void> {
  const { key } = site.attacker
  const { id } = await api<{ id: number }>(site, key, 'POST', '/repositories', settingsFor(url))
  const isSynced = async () =>
    (await api<{ last_sync_at: string | null }>(site, key, 'GET', `/repositories/${id}`)).last_sync_at !== null
  await eventually(isSynced, { timeoutMs: syncTimeoutMs, intervalMs: 200 })
  await api(site, key, 'DELETE', `/repositories/${id}`)
}

/** Connects and disconnects a repository of the neighbour a few times, and until the attack ends. Returns the longest time. */
async function longestConnect(site: Site, url: string, attack: Promise<void> = Promise.resolve()): Promise<number> {
  const { key } = site.neighbour
  const tries = site.isShort ? 2 : 5
  let isOver = false
  const end = () => {
    isOver = true
  }
  attack.then(end, end)
  let longestMs = 0
  for (let i = 0; i < tries || !isOver; i++) {
    const start = performance.now()
    const { id } = await api<{ id: number }>(site, key, 'POST', '/repositories', settingsFor(url))
    longestMs = Math.max(longestMs, Math.round(performance.now() - start))
    await api(site, key, 'DELETE', `/repositories/${id}`)
  }
  return longestMs
}

function settingsFor(url: string) {
  return { forge: 'github', url, path: 'prompts/**' }
}
