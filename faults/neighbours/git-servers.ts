import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '../../testing/eventually.ts'
import { type Attack, check } from './attack.ts'
import { api, type Connected, connect, createRemote, deliver, historyOf, metric, request } from './client.ts'

/** Git servers that accept a connection and say nothing, while another organisation pushes. */
export const hangingServers: Attack = {
  name: '7: three git servers that hang',
  isLoad: true,
  async prepare(site) {
    const hanging = [
      await connect(site, site.attacker.key),
      await connect(site, site.attacker.key),
      await connect(site, site.attacker.key),
    ]
    const victim = await connect(site, site.neighbour.key)
    return async () => {
      // Git opens this pipe for reading, and waits until it is opened for writing.
      const pipes = hanging.map(({ git }) => join(git.remote, 'packed-refs'))
      execFileSync('mkfifo', pipes)
      for (const { id } of hanging) await api(site, site.attacker.key, 'POST', `/repositories/${id}/sync`)
      const start = performance.now()
      const end = start + site.seconds * 1_000
      let pushes = 0
      do {
        const before = victim.git.head('main')
        const after = victim.git.commit(`Push ${pushes}`, { 'prompts/p.md': `${pushes++}\n` })
        victim.git.push()
        check((await deliver(site, victim.hook, victim.forge.push({ before, after }))) === 202, 'no delivery')
        await eventually(async () => (await historyOf(site, victim)).some(({ commit_sha }) => commit_sha === after), {
          timeoutMs: 30_000,
        })
      } while (performance.now() < end)
      const average = Math.round((performance.now() - start) / pushes)
      release(hanging, pipes)
      return `${pushes} pushes of the neighbour followed, ${average} ms each`
    }
  },
}

const responseMs = 60_000

/** Connecting repositories whose server hangs. The client must get a response, and the neighbour connects meanwhile. */
export const slowConnects: Attack = {
  name: '7: connecting a repository whose server hangs',
  isLoad: true,
  async prepare(site) {
    const git = createRemote(site)
    const body = JSON.stringify({ forge: 'github', url: git.remote, path: 'prompts/**' })
    const post = { method: 'POST', path: '/api/v1/repositories', key: site.attacker.key, body }
    return async () => {
      const pipe = join(git.remote, 'packed-refs')
      execFileSync('mkfifo', [pipe])
      const responses = [request(site, post), request(site, post)]
      const start = performance.now()
      await connect(site, site.neighbour.key)
      const connectMs = Math.round(performance.now() - start)
      await pause(Math.max(site.seconds - 1, 1) * 1_000)
      release([{ git }], [pipe])
      const [first, repeated] = await Promise.all(responses)
      check(performance.now() - start < responseMs, 'the client waited for more than 60 s')
      check(first?.body === repeated?.body, `the repeated call was answered differently: ${repeated?.body}`)
      return `both calls were answered with ${first?.status}; the neighbour connected in ${connectMs} ms`
    }
  },
}

/** Lets the servers go on, so that they do not disturb the next attack. */
function release(hanging: Pick<Connected, 'git'>[], pipes: string[]): void {
  for (const { git } of hanging) git.inRemote('config', 'uploadpack.hideRefs', 'refs')
  for (const pipe of pipes) {
    // Every git that waits for the pipe continues, and finds it empty once it is closed. Later ones no longer find it.
    const writer = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK)
    rmSync(pipe)
    closeSync(writer)
  }
}

/** Globs with many wildcards. */
export const hostileGlobs: Attack = {
  name: '7: globs with many wildcards',
  isLoad: false,
  async prepare(site) {
    const { git } = await connect(site, site.attacker.key)
    const globs = [
      '*a'.repeat(20),
      `${'**/'.repeat(8)}*.md`,
      `prompts/${'*x'.repeat(200)}`,
      `prompts/${'x'.repeat(600)}`,
    ]
    return async () => {
      for (const path of globs) {
        const body = JSON.stringify({ forge: 'github', url: git.remote, path })
        const options = { method: 'POST', path: '/api/v1/repositories', key: site.attacker.key, body }
        const { status } = await request(site, options)
        check(status === 422, `the glob ${path.slice(0, 40)} was answered with ${status}`)
      }
      return `${globs.length} rejected`
    }
  },
}

/** Repositories at addresses of the operator's network. */
export const innerAddresses: Attack = {
  name: '9: repositories at inner addresses',
  isLoad: false,
  async prepare(site) {
    let contacts = 0
    const server = createServer((socket) => {
      contacts++
      socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 12\r\n\r\ninner secret')
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const urls = [
      `https://127.0.0.1:${port}/x.git`,
      `https://localhost:${port}/x.git`,
      `https://[::ffff:127.0.0.1]:${port}/x.git`,
      'https://169.254.169.254/latest/meta-data',
      `ssh://git@127.0.0.1:${port}/x.git`,
    ]
    return async () => {
      const runsBefore = await metric(site, 'promptledger_git_runs_total')
      for (const url of urls) {
        const body = JSON.stringify({ forge: 'github', url, path: '*.md' })
        const options = { method: 'POST', path: '/api/v1/repositories', key: site.attacker.key, body }
        const response = await request(site, options)
        check(response.status === 422, `${url} was answered with ${response.status}`)
        check(!response.body.includes('inner secret'), `the response quotes ${url}`)
      }
      server.close()
      check(contacts === 0, `an inner server was contacted ${contacts} times`)
      const runs = (await metric(site, 'promptledger_git_runs_total')) - runsBefore
      return `${urls.length} rejected, none contacted, ${runs} runs of git`
    }
  },
}
