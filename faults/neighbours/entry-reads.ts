import { type Attack, check } from './attack.ts'
import { connect, createRemote, historyOf, metric, request } from './client.ts'

const parallel = 150

/** Many requests at once for the texts of entries, which git has to read. */
export const entryReads: Attack = {
  name: '5: 150 parallel requests for the texts of entries',
  isLoad: true,
  async prepare(site) {
    const git = createRemote(site)
    const commits = site.isShort ? 15 : 90
    for (let i = 0; i < commits; i++) git.commit(`Change ${i}`, { 'prompts/p.md': `${i}\n` })
    git.push()
    const connected = await connect(site, site.attacker.key, git)
    const entries = await historyOf(site, connected)
    check(entries.length === commits + 1, `${entries.length} entries`)
    return async () => {
      const runsBefore = await metric(site, 'promptledger_git_runs_total')
      const counts = { served: 0, rejected: 0, waiting: 0 }
      const end = performance.now() + site.seconds * 1_000
      let next = 0
      const read = async () => {
        do {
          const path = `/api/v1/prompts/${connected.promptId}/history/${entries[next++ % entries.length]?.id}`
          // The attacker's own requests may have to wait for longer than a client does.
          const response = await request(site, { path, key: connected.key }).catch(() => null)
          if (response === null) counts.waiting++
          else if (response.status === 200) counts.served++
          else if (response.status === 500 && response.headers['retry-after'] !== undefined) counts.rejected++
          else throw new Error(`status ${response.status}`)
        } while (performance.now() < end)
      }
      await Promise.all(Array.from({ length: parallel }, read))
      check(counts.served > 0, 'no request was served')
      const runs = (await metric(site, 'promptledger_git_runs_total')) - runsBefore
      return `${counts.served} served, ${counts.rejected} rejected, ${counts.waiting} given up, ${runs} runs of git`
    }
  },
}
