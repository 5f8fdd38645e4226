import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { type IncomingHttpHeaders, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import type { LightMyRequestResponse } from 'fastify'
import { sqlite } from '../../../testing/engines.ts'
import { TestService } from '../../../testing/service.ts'
import { acceptedEncoding, encodings } from '../../src/http/console/accepted-encoding.ts'
import { cookieWith } from './session-requests.ts'

const index =
  '<!doctype html><title>Promptledger</title><script type="module" src="/assets/index-1a2b3c4d.js"></script>'
const script = 'console.log("Promptledger")\n'.repeat(400)
const pages = [
  '/',
  '/?q=support',
  '/sign-in',
  '/prompts',
  '/prompts/pmt_1/history/3',
  '/regressions',
  '/texts',
  '/shared',
  '/usage',
  '/audit',
  '/settings',
  '/keys',
  '/repositories',
  '/repositories/1',
]

const securityHeaders = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
    "manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
}

const notFound = {
  error: {
    code: 'not_found',
    message: 'Not found. Check the URL and the HTTP method; a key can only access its own organisation.',
  },
}

describe('The console', () => {
  const service = new TestService()
  let folder = ''
  let port = 0
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'promptledger-console-'))
    const dist = join(folder, 'dist')
    await mkdir(join(dist, 'assets', 'fonts'), { recursive: true })
    const contents: Record<string, string> = {
      'secret.txt': 'not part of the console',
      'dist/index.html': index,
      'dist/icon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
      'dist/manifest.webmanifest': '{}',
      'dist/favicon.ico': 'icon',
      'dist/assets/index-1a2b3c4d.js': script,
      'dist/assets/index-1a2b3c4d.css': 'body { color: black }',
      'dist/assets/data-1a2b3c4d.json': '{}',
      'dist/assets/logo-1a2b3c4d.png': 'picture',
      'dist/assets/fonts/text-1a2b3c4d.woff2': 'font',
    }
    for (const [name, text] of Object.entries(contents)) await writeFile(join(folder, name), text)
    await symlink(join(folder, 'secret.txt'), join(dist, 'assets', 'link.txt'))
    service.consoleFolder = pathToFileURL(`${dist}/`)
    await service.open(sqlite)
    await service.app.listen({ port: 0, host: '127.0.0.1' })
    port = (service.app.server.address() as AddressInfo).port
  })
  after(async () => {
    await service.close()
    await rm(folder, { recursive: true, force: true })
  })

  function get(url: string, headers: Record<string, string> = {}): Promise<LightMyRequestResponse> {
    return service.app.inject({ url, headers })
  }

  function assertSecurityHeaders({ headers }: LightMyRequestResponse): void {
    for (const [name, value] of Object.entries(securityHeaders)) assert.equal(headers[name], value, name)
  }

  test('every console path serves the same page, with security headers, and browsers revalidate it', async () => {
    for (const url of pages) {
      const response = await get(url)
      assert.deepEqual([response.statusCode, response.body], [200, index], url)
      assert.equal(response.headers['content-type'], 'text/html; charset=utf-8')
      assert.equal(response.headers['cache-control'], 'no-cache')
      assertSecurityHeaders(response)
    }
  })

  test('pages name what the browser should preload: the session, and the prompts of home for someone who is signed in', async () => {
    const preloads = async (url: string, cookie?: string) => {
      const { headers } = await get(url, cookie === undefined ? {} : { cookie })
      return String(headers.link).split(', ')
    }
    const session = '</api/v1/session>; rel=preload; as=fetch; crossorigin'
    const prompts = '</api/v1/prompts?page=1&q=&sort=regression>; rel=preload; as=fetch; crossorigin'
    for (const url of ['/', '/prompts']) {
      assert.deepEqual(await preloads(url, cookieWith(service, 'a')), [session, prompts])
      // Requests for lists would only get 401.
      assert.deepEqual(await preloads(url), [session])
    }
    // Another page of the list, and another view.
    for (const url of ['/prompts?page=2', '/prompts/pmt_1']) {
      assert.deepEqual(await preloads(url, cookieWith(service, 'a')), [session])
    }
  })

  test('a browser that has the current page gets 304', async () => {
    const { headers } = await get('/', { 'accept-encoding': 'br' })
    const etag = String(headers.etag)
    assert.match(etag, /^W\/"[\w-]{43}"$/)
    for (const known of [etag, etag.replace('W/', ''), `"other", ${etag}`]) {
      const response = await get('/prompts', { 'if-none-match': known })
      assert.deepEqual([response.statusCode, response.body], [304, ''])
      assert.equal(response.headers.etag, etag)
      assert.equal(response.headers['cache-control'], 'no-cache')
      assertSecurityHeaders(response)
    }
    assert.equal((await get('/', { 'if-none-match': '"other"' })).statusCode, 200)
  })

  test('hashed files are immutable and every file has the right content type', async () => {
    const types = {
      '/assets/index-1a2b3c4d.js': 'text/javascript; charset=utf-8',
      '/assets/index-1a2b3c4d.css': 'text/css; charset=utf-8',
      '/assets/data-1a2b3c4d.json': 'application/json; charset=utf-8',
      '/assets/logo-1a2b3c4d.png': 'image/png',
      '/assets/fonts/text-1a2b3c4d.woff2': 'font/woff2',
      '/icon.svg': 'image/svg+xml; charset=utf-8',
      '/manifest.webmanifest': 'application/manifest+json; charset=utf-8',
      '/favicon.ico': 'image/x-icon',
      '/index.html': 'text/html; charset=utf-8',
    }
    for (const [url, type] of Object.entries(types)) {
      const response = await get(url)
      assert.deepEqual([response.statusCode, response.headers['content-type']], [200, type], url)
      const isHashed = url.startsWith('/assets/')
      const caching = isHashed ? 'public, max-age=31536000, immutable' : 'no-cache'
      assert.equal(response.headers['cache-control'], caching, url)
      assertSecurityHeaders(response)
    }
  })

  test('console files are compressed for clients that accept it', async () => {
    const url = '/assets/index-1a2b3c4d.js'
    const encodings = [
      ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
      ['gzip, deflate', 'gzip', gunzipSync],
      ['deflate', undefined, (bytes: Buffer) => bytes],
    ] as const
    // Twice: once compressed, once from the cache.
    for (const [accepted, encoding, decompress] of [...encodings, ...encodings]) {
      const response = await get(url, { 'accept-encoding': accepted })
      assert.equal(response.headers['content-encoding'], encoding)
      assert.equal(response.headers.vary, 'Accept-Encoding')
      assert.equal(Number(response.headers['content-length']), response.rawPayload.length)
      assert.equal(decompress(response.rawPayload).toString(), script)
      if (encoding !== undefined) assert.ok(response.rawPayload.length < script.length / 10)
    }
    // Already compressed formats are sent unchanged.
    const picture = await get('/assets/logo-1a2b3c4d.png', { 'accept-encoding': 'br' })
    assert.deepEqual([picture.headers['content-encoding'], picture.headers.vary], [undefined, undefined])
    assert.equal(picture.body, 'picture')
  })

  test('HEAD gets the same headers as GET, without a body', async () => {
    for (const path of ['/', '/keys', '/assets/index-1a2b3c4d.js', '/icon.svg']) {
      const [head, body] = await fetchRaw('HEAD', path)
      const [full, content] = await fetchRaw('GET', path)
      assert.equal(body, '')
      assert.ok(content.length > 0)
      assert.equal(head.status, 200)
      assert.deepEqual(head, full)
    }
    assert.equal((await fetchRaw('HEAD', '/assets/nothing.js'))[0].status, 404)
  })

  test('only files of the console are served, whatever the path', async () => {
    const hostile = [
      '/assets/../../package.json',
      '/assets/../../secret.txt',
      '/assets/../index.html',
      '/assets/..%2f..%2fsecret.txt',
      '/assets/%2e%2e/%2e%2e/secret.txt',
      '/assets/%2e%2e%2f%2e%2e%2fsecret.txt',
      '/assets/..%5c..%5csecret.txt',
      '/assets/..%252f..%252fsecret.txt',
      '/assets/%00',
      '/assets/index-1a2b3c4d.js%00',
      '/assets/index-1a2b3c4d.js/',
      '/assets/./index-1a2b3c4d.js',
      '/assets//index-1a2b3c4d.js',
      '/assets/%',
      '/assets/link.txt',
      '/assets/',
      '/assets',
      '/assets/fonts',
      '/assets/__proto__',
      '/assets/constructor',
      '/..',
      '/../secret.txt',
      '/..%2fsecret.txt',
      '/%2e%2e%2fsecret.txt',
      '//secret.txt',
      '/secret.txt',
      '/package.json',
      `${join(folder, 'secret.txt')}`,
      `/assets/${join(folder, 'secret.txt')}`,
    ]
    for (const path of hostile) {
      const [{ status, headers }, body] = await fetchRaw('GET', path)
      assert.equal(status, 404, path)
      assert.deepEqual(JSON.parse(body), notFound)
      assert.equal(headers['cache-control'], undefined, path)
    }
  })

  test('no URL leads to a redirect', async () => {
    const hostile = [
      '//evil.example',
      '//evil.example/%2e%2e',
      '/\\\\evil.example',
      '/%5cevil.example',
      '/%0d%0aLocation:%20https://evil.example',
      '/sign-in?next=https://evil.example&return_to=//evil.example',
      '/prompts/?redirect=https://evil.example',
      '/sign-in//evil.example',
    ]
    for (const path of hostile) {
      const [{ status, headers }] = await fetchRaw('GET', path)
      assert.ok(status === 200 || status === 404, `${path}: ${status}`)
      assert.equal(headers.location, undefined, path)
    }
  })

  test('an unknown path gets the page in a browser and JSON in a program, with 404 in both', async () => {
    const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
    for (const url of [
      '/nothing',
      '/prompts.html',
      '/assets/gone-1a2b3c4d.js',
      '/sign-in/again',
      '/docs/nothing',
      '//x',
    ]) {
      const page = await get(url, { accept })
      assert.deepEqual(
        [page.statusCode, page.body, page.headers['content-type']],
        [404, index, 'text/html; charset=utf-8'],
      )
      assert.equal(page.headers['cache-control'], 'no-store')
      assertSecurityHeaders(page)
      const json = await get(url, { accept: '*/*' })
      assert.deepEqual([json.statusCode, json.json()], [404, notFound], url)
    }
    for (const url of ['/api', '/api/v2/prompts', '/webhooks/x']) {
      const response = await get(url, { accept })
      assert.deepEqual([response.statusCode, response.json()], [404, notFound], url)
    }
    assert.equal((await get('/api/v1/nothing', { accept })).statusCode, 401)
    const posted = await service.app.inject({ method: 'POST', url: '/nothing', headers: { accept } })
    assert.deepEqual([posted.statusCode, posted.json()], [404, notFound])
  })

  test('the page that votes, and the tokens for it, exist only in the demo', async () => {
    for (const url of ['/demo/thumbs', '/demo/thumbs.html', '/demo/tokens']) {
      const response = await get(url)
      assert.equal(response.statusCode, 404, url)
      assert.deepEqual(response.json(), notFound)
    }
  })

  test('the console leaves all other paths to the API', async () => {
    for (const url of ['/nothing', '/promptsx', '/sign-in/again', '/webhooks/x', '/api', '/api/v2/prompts']) {
      const response = await get(url)
      assert.equal(response.statusCode, 404, url)
      assert.deepEqual(response.json(), notFound)
    }
    assert.equal((await get('/api/v1/prompts')).statusCode, 401)
    assert.equal((await get('/healthz')).statusCode, 200)
    for (const url of ['/', '/prompts', '/assets/index-1a2b3c4d.js']) {
      const response = await service.app.inject({ method: 'POST', url })
      assert.equal(response.statusCode, 404, url)
      assert.deepEqual(response.json(), notFound)
    }
  })

  /** Over a real socket, because an injected request would normalise the path. */
  function fetchRaw(method: string, path: string): Promise<[{ status: number; headers: IncomingHttpHeaders }, string]> {
    return new Promise((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, method, path, agent: false }, async (response) => {
        const { date, 'x-request-id': id, ...headers } = response.headers
        resolve([{ status: response.statusCode ?? 0, headers }, (await response.toArray()).join('')])
      })
      sent.on('error', reject).end()
    })
  }
})

describe('A console that is not built', () => {
  const service = new TestService()
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'promptledger-console-'))
    service.consoleFolder = pathToFileURL(`${folder}/dist/`)
    await service.open(sqlite)
  })
  after(async () => {
    await service.close()
    await rm(folder, { recursive: true, force: true })
  })

  test('an unbuilt console says how to build it, and is served without a restart once it is built', async () => {
    for (const url of pages) {
      const response = await service.app.inject(url)
      assert.equal(response.statusCode, 200, url)
      assert.equal(response.headers['content-type'], 'text/html; charset=utf-8')
      assert.equal(response.headers['content-security-policy'], securityHeaders['content-security-policy'])
      assert.equal(response.headers['cache-control'], 'no-store')
      assert.match(response.body, /not built.*<code>npm run build<\/code>/s)
      assert.match(response.body, /<a href="\/docs">/)
    }
    assert.equal((await service.app.inject('/assets/index-1a2b3c4d.js')).statusCode, 404)
    await mkdir(join(folder, 'dist'))
    assert.match((await service.app.inject('/')).body, /not built/)
    await writeFile(join(folder, 'dist', 'index.html'), index)
    assert.equal((await service.app.inject('/')).body, index)
  })
})

test('Accept-Encoding is parsed with its weights and wildcards', () => {
  const meanings: [string | undefined, string | null][] = [
    [undefined, null],
    ['', null],
    ['identity', null],
    ['br', 'br'],
    ['GZIP', 'gzip'],
    ['gzip;q=1.0, br;q=0.5', 'br'],
    ['br;q=0, gzip', 'gzip'],
    ['br ; q=0.000 , gzip; q=0', null],
    ['*', 'br'],
    ['br;q=0, *;q=0.1', 'gzip'],
    ['*;q=0', null],
    ['br;q=nonsense', null],
    ['brotli, xgzip', null],
  ]
  for (const [header, encoding] of meanings) assert.equal(acceptedEncoding(header, encodings), encoding, header)
})
