import { flood } from '../flood.ts'
import { type Attack, check } from './attack.ts'

const connections = 300

/** One key records as fast as the service answers, over many connections. */
export const signalFlood: Attack = {
  name: 'limits: one key records on 300 connections',
  isLoad: true,
  async prepare({ service, attacker, seconds }) {
    return async () => {
      const { latencies, unexpected } = await flood({ port: service.port, accounts: [attacker], connections, seconds })
      check(unexpected.length === 0, `unexpected: ${unexpected[0]}`)
      const counts = [...latencies].map(([status, { count }]) => `${count} × ${status}`)
      return counts.join(', ')
    }
  },
}
