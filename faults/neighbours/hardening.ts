import { existsSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Attack, check } from './attack.ts'
import { request } from './client.ts'

/** A look at the headers, the cookie and the files of the service. */
export const hardening: Attack = {
  name: '13: headers, cookie and files',
  isLoad: false,
  async prepare(site) {
    return async () => {
      const paths = ['/healthz', '/', '/nothing', '/api/v1/usage', '/webhooks/x', '/docs', '/openapi.json']
      for (const path of paths) {
        const { headers } = await request(site, { path })
        check(headers['x-content-type-options'] === 'nosniff', `${path} has no nosniff`)
        check(headers['strict-transport-security'] !== undefined, `${path} has no HSTS`)
        const isPage = String(headers['content-type']).startsWith('text/html')
        check(!isPage || headers['x-frame-options'] === 'DENY', `${path} can be framed`)
      }
      const signIn = { method: 'POST', path: '/api/v1/session', key: site.attacker.key }
      const [cookie = ''] = (await request(site, signIn)).headers['set-cookie'] ?? []
      check(
        /^__Host-[^;]+;.*HttpOnly/i.test(cookie) && /; Secure/i.test(cookie),
        `the cookie is ${cookie.split(';').slice(1)}`,
      )
      const folders = [join(site.folder, 'data'), ...databaseFolder(site.url)].filter((folder) => existsSync(folder))
      const files = folders.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
      const open = files.filter((file) => (statSync(file).mode & 0o077) !== 0)
      check(open.length === 0, `other users can read ${open.join(', ')}`)
      return `${paths.length} responses and ${files.length} files`
    }
  },
}

function databaseFolder(url: string): string[] {
  return url.startsWith('sqlite:') ? [dirname(url.slice('sqlite:'.length))] : []
}
