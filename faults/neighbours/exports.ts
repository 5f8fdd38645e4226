import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '../../testing/eventually.ts'
import { openSocket } from '../../testing/socket.ts'
import { type Attack, check, type Site } from './attack.ts'
import { createKey, metric, request } from './client.ts'
import { createPromptWithSignals } from './signals.ts'

/** An ingest key puts a whole signal into the metadata of another, between line breaks. */
export const forgedLines: Attack = {
  name: '2: a forged line in an export',
  isLoad: false,
  async prepare(site) {
    const { key } = await createKey(site, { role: 'ingest' })
    const path = `/api/v1/prompts/${site.attacker.promptId}/signals`
    return async () => {
      const forged = '{"id":424242,"value":"negative","metadata":null,"created_at":"2026-01-01T00:00:00.000Z"}'
      const body = `{"value":"positive","metadata":{"a":\r\n${forged}\n}}`
      const { status } = await request(site, { method: 'POST', path, key, body })
      check(status === 201, `the signal was answered with ${status}`)
      const exported = await request(site, { path: `${path}/export`, key: site.attacker.key })
      const signals = exported.body
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
      check(!signals.some(({ id }) => id === 424242), 'the forged signal is a line of the export')
      check(signals.at(-1).metadata.a.id === 424242, 'the metadata of the signal was changed')
      return `${signals.length} lines, none forged`
    }
  },
}

const connections = 120

/** Connections that start an export and never read it. */
export const unreadExports: Attack = {
  name: '3: 120 export connections that read nothing',
  isLoad: true,
  async prepare(site) {
    const promptId = await createPromptWithSignals(site, site.isShort ? 500 : 2_000, `{"text":"${'x'.repeat(16_000)}"}`)
    const path = `/api/v1/prompts/${promptId}/signals/export`
    const keys = await Promise.all(Array.from({ length: 6 }, () => createKey(site, { role: 'reader' })))
    return async () => {
      const started = await Promise.all(
        Array.from({ length: connections }, (_, i) => startExport(site, path, keys[i % keys.length]?.key ?? '')),
      )
      const accepted = started.filter(({ status }) => status === 200).length
      const rejected = started.filter(({ status }) => status === 500).length
      check(accepted + rejected === connections, `unexpected statuses: ${started.map(({ status }) => status)}`)
      check(accepted > 0 && accepted <= 8, `${accepted} exports of one organisation were started`)
      const inFlight = 'promptledger_http_requests_in_flight{kind="read"}'
      await eventually(async () => check((await metric(site, inFlight)) >= accepted, 'unread exports are not counted'))
      await pause(site.seconds * 1_000)
      for (const { socket } of started) socket.destroy()
      return `${accepted} started, ${rejected} rejected`
    }
  },
}

/** Requests an export and reads nothing but the status. */
async function startExport({ service }: Site, path: string, key: string): Promise<{ socket: Socket; status: number }> {
  const socket = await openSocket(service.port)
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`)
  await once(socket, 'readable')
  return { socket, status: Number(String(socket.read(12)).slice(9)) }
}
