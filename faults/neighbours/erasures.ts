import { type Attack, check } from './attack.ts'
import { api, request } from './client.ts'
import { createPromptWithSignals } from './signals.ts'

const objectOf = (members: number) => Object.fromEntries(Array.from({ length: members }, (_, i) => [`m${i}`, 1]))

/** Erasures with many members, of signals with many members. The last member differs, so that every signal is compared. */
export const erasures: Attack = {
  name: '6: erasures with many members',
  isLoad: true,
  async prepare(site) {
    await createPromptWithSignals(site, site.isShort ? 500 : 4_000, JSON.stringify(objectOf(1_500)))
    const { key } = site.attacker
    return async () => {
      const body = JSON.stringify({ metadata: objectOf(2_349) })
      const { status } = await request(site, { method: 'POST', path: '/api/v1/signals/erase', key, body })
      check(status === 422, `an erasure with 2,349 members was answered with ${status}`)
      const query = { metadata: { ...objectOf(15), m1499: 2 } }
      const end = performance.now() + site.seconds * 1_000
      const eraseAgain = async () => {
        let count = 0
        do {
          const { erased } = await api<{ erased: number }>(site, key, 'POST', '/signals/erase', query)
          check(erased === 0, `${erased} signals were erased`)
          count++
        } while (performance.now() < end)
        return count
      }
      const [first, second] = await Promise.all([eraseAgain(), eraseAgain()])
      return `2,349 members rejected; ${first + second} erasures with 16`
    }
  },
}
