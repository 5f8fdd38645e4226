import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '../../testing/eventually.ts'
import { deliveriesFrom } from '../../testing/payloads/deliveries.ts'
import { openSocket } from '../../testing/socket.ts'
import { type Attack, check, type Site } from './attack.ts'
import { api, connect, deliver } from './client.ts'

const megabyte = 1024 * 1024

/** Unsigned requests to a webhook: some announce 25 MB and send one byte, others send as much as they can. */
export const idleUploads: Attack = {
  name: '4: unsigned webhook bodies that stall or fill the memory',
  isLoad: true,
  async prepare(site) {
    const connected = await connect(site, site.attacker.key)
    return async () => {
      const sockets = await Promise.all([
        ...Array.from({ length: 40 }, () => startUpload(site, connected.hook, '{')),
        ...Array.from({ length: 4 }, () => startUpload(site, connected.hook, 'x'.repeat(20 * megabyte))),
      ])
      const accepted = await eventually(
        async () => (await deliver(site, connected.hook, connected.forge.ping())) === 202,
      )
      await pause(site.seconds * 1_000)
      for (const socket of sockets) socket.destroy()
      check(accepted, 'a signed delivery was not accepted')
      return 'a signed delivery was accepted beside them'
    }
  },
}

async function startUpload({ service }: Site, hook: string, sent: string): Promise<Socket> {
  const socket = await openSocket(service.port)
  socket.resume()
  socket.write(
    `POST ${hook} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${25 * megabyte}\r\n\r\n${sent}`,
  )
  return socket
}

/** A leaked webhook secret that is replaced without an overlap. */
export const leakedSecret: Attack = {
  name: '12: a leaked webhook secret',
  isLoad: false,
  async prepare(site) {
    const { id, key, hook, forge } = await connect(site, site.attacker.key)
    return async () => {
      check((await deliver(site, hook, forge.ping())) === 202, 'the secret is not valid before its rotation')
      const path = `/repositories/${id}/rotate-secret`
      const rotated = await api<{ webhook_secret: string }>(site, key, 'POST', path, { overlap_hours: 0 })
      check((await deliver(site, hook, forge.ping())) === 401, 'the old secret is still valid')
      const replaced = deliveriesFrom('github', rotated.webhook_secret)
      check((await deliver(site, hook, replaced.ping())) === 202, 'the new secret is not valid')
      return 'rejected on the next request'
    }
  },
}
