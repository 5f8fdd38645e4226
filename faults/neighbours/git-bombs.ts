import { eventually } from '../../testing/eventually.ts'
import { commitFile, commitNestedTrees, commitRaw } from '../../testing/hostile-trees.ts'
import { type Attack, check, type Site } from './attack.ts'
import { api, type Connected, connect, deliver, historyOf } from './client.ts'

const syncTimeoutMs = 120_000
const megabyte = 1_000_000

/** A pull request with a million paths in nested trees: a few kilobytes in git. It is read again by every sync. */
export const nestedTrees: Attack = {
  name: '1: a pull request with a million paths',
  isLoad: true,
  async prepare(site) {
    const connected = await connect(site, site.attacker.key)
    const parent = connected.git.head('main')
    const head = commitNestedTrees(connected.git, {
      width: site.isShort ? 200 : 1_000,
      depth: 2,
      parent,
      text: 'hostile\n',
    })
    connected.git.inRemote('update-ref', 'refs/pull/7/head', head)
    return async () => {
      await openPull(site, connected, head)
      await syncAgain(site, connected)
      // A change to a prompt of an open pull request waits for 10 s, because it may be the merge.
      return site.isShort ? 'too large' : followed(site, connected)
    }
  },
}

/** Commits with messages of 100 MB each, which pack to 100 KB. */
export const hugeMessages: Attack = {
  name: '1: commits with messages of 100 MB',
  isLoad: true,
  async prepare(site) {
    const connected = await connect(site, site.attacker.key)
    const { git } = connected
    const tree = git.commit('Next', { 'prompts/p.md': 'hostile\n' })
    const message = `Huge\n\n${'x'.repeat(100 * megabyte)}`
    let head = git.head('main~1')
    git.push('HEAD:refs/heads/other')
    for (let i = 0; i < (site.isShort ? 1 : 12); i++) {
      head = commitRaw(git.remote, git.head(`${tree}^{tree}`), head, `${i} ${message}`)
    }
    git.inRemote('update-ref', 'refs/pull/7/head', head)
    return async () => {
      await openPull(site, connected, head)
      await syncAgain(site, connected)
      return followed(site, connected)
    }
  },
}

/** A pull request that moves a file of 300 MB, which packs to 300 KB, and changes it: git compares both versions in memory. */
export const zipBomb: Attack = {
  name: '1: a moved file of 300 MB',
  isLoad: true,
  async prepare(site) {
    const connected = await connect(site, site.attacker.key)
    const { git } = connected
    // Otherwise the memory of the server, which runs on this machine, would count too.
    git.inRemote('config', 'core.bigFileThreshold', '1m')
    const zeros = Buffer.alloc((site.isShort ? 100 : 300) * megabyte)
    let head = git.head('main')
    for (const name of ['a', 'b'])
      head = commitFile(git.remote, head, `${name}.md`, Buffer.concat([zeros, Buffer.from(name)]))
    git.inRemote('update-ref', 'refs/pull/7/head', head)
    return async () => {
      await deliverPull(site, connected, head)
      await syncAgain(site, connected)
      return site.isShort ? 'recorded' : followed(site, connected)
    }
  },
}

/** Opens the pull request, and waits until the service says that it is too large: in its entry, or without one in the delivery. */
async function openPull(site: Site, connected: Connected, head: string): Promise<void> {
  const { key, promptId } = connected
  const error = await deliverPull(site, connected, head)
  check(
    /pull request 7 is too large/.test(error ?? ''),
    `the delivery does not say that the pull request is too large: ${error}`,
  )
  const opened = (await historyOf(site, connected)).find(({ action }) => action === 'pr_opened')
  if (opened === undefined) return
  const details = await api<{ too_large: boolean }>(site, key, 'GET', `/prompts/${promptId}/history/${opened.id}`)
  check(details.too_large, 'the entry does not say that the pull request is too large')
}

/** Opens the pull request, and returns the note of the delivery once it is processed. */
async function deliverPull(site: Site, connected: Connected, head: string): Promise<string | null> {
  const { hook, forge, id, key } = connected
  check((await deliver(site, hook, forge.pull({ action: 'opened', number: 7, head }))) === 202, 'no delivery')
  const isProcessed = async () => {
    const deliveries = await api<{ state: string; error: string | null }[]>(
      site,
      key,
      'GET',
      `/repositories/${id}/deliveries`,
    )
    const [delivery] = deliveries
    if (delivery?.state !== 'done') throw new Error(`the delivery is ${delivery?.state}: ${delivery?.error}`)
    return delivery
  }
  return (await eventually(isProcessed, { timeoutMs: syncTimeoutMs, intervalMs: 200 })).error
}

async function syncAgain(site: Site, { key, id }: Connected): Promise<void> {
  const read = () => api<{ last_sync_at: string }>(site, key, 'GET', `/repositories/${id}`)
  const { last_sync_at: before } = await read()
  await api(site, key, 'POST', `/repositories/${id}/sync`)
  await eventually(async () => (await read()).last_sync_at !== before, { timeoutMs: syncTimeoutMs, intervalMs: 200 })
}

/** Pushes to the default branch, and waits until the push is in the history. */
async function followed(site: Site, connected: Connected): Promise<string> {
  const { git, hook, forge } = connected
  const start = performance.now()
  const before = git.inRemote('rev-parse', 'main')
  git.switchTo('main', before)
  const after = git.commit('Go on', { 'prompts/p.md': 'Be kinder.\n' })
  git.push('HEAD:main')
  check((await deliver(site, hook, forge.push({ before, after }))) === 202, 'no delivery')
  const isRecorded = async () => (await historyOf(site, connected)).some(({ commit_sha }) => commit_sha === after)
  await eventually(isRecorded, { timeoutMs: syncTimeoutMs, intervalMs: 100 })
  return `too large; the next push in the history after ${Math.round(performance.now() - start)} ms`
}
