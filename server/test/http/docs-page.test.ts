import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import type { Operation } from '../../../contract/operation.ts'
import { sqlite } from '../../../testing/engines.ts'
import { documentedOperations } from '../../../testing/operations.ts'
import { useService } from '../../../testing/service.ts'
import { describeApi } from '../../src/http/docs/openapi.ts'
import type { Document } from '../../src/http/docs/openapi-document.ts'
import { renderDocsPage } from '../../src/http/docs/page.ts'

const hostile = `</p></style><script>alert(1)</script><img src=x onerror=alert(1)>"' onclick="alert(1) &lt; \`<b>\``

/** The tags, attributes and link targets of a page. */
function markup(page: string): { tags: string[]; attributes: string[]; links: string[] } {
  const openTags = [...page.matchAll(/<([a-z][a-z0-9]*)((?:\s+[a-z-]+(?:="[^"]*")?)*)\s*>/g)]
  const attributes = openTags.flatMap(([, , text = '']) => [...text.matchAll(/([a-z-]+)="([^"]*)"/g)])
  return {
    tags: [...new Set(openTags.map(([, tag = '']) => tag))],
    attributes: [...new Set(attributes.map(([, name = '']) => name))],
    links: attributes.filter(([, name]) => name === 'href' || name === 'src').map(([, , value = '']) => value),
  }
}

describe('The API reference page', () => {
  const service = useService(sqlite)
  const getPage = () => service.app.inject('/docs')

  test('the API reference has a policy that allows its own style and scripts, requests to the service, and no text as HTML', async () => {
    const response = await getPage()
    assert.equal(response.statusCode, 200)
    assert.equal(response.headers['content-type'], 'text/html; charset=utf-8')
    assert.equal(response.headers['x-content-type-options'], 'nosniff')
    const [, style = ''] = /<style>(.*?)<\/style>/s.exec(response.body) ?? []
    const hash = createHash('sha256').update(style).digest('base64')
    assert.equal(
      response.headers['content-security-policy'],
      `default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; style-src 'sha256-${hash}'; ` +
        "script-src 'self'; connect-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'",
    )
    assert.doesNotMatch(style, /url\(|@import/)
  })

  test('the API reference is found with HEAD, and with a slash at its end', async () => {
    const { headers } = await getPage()
    const head = await service.app.inject({ method: 'HEAD', url: '/docs' })
    assert.deepEqual([head.statusCode, head.headers['content-type']], [200, headers['content-type']])
    const withSlash = await service.app.inject('/docs/')
    assert.deepEqual([withSlash.statusCode, withSlash.headers.location], [308, '/docs'])
  })

  test('the API reference has no inline script and only links to itself, the OpenAPI document and the console', async () => {
    const { body } = await getPage()
    const { tags, attributes, links } = markup(body)
    assert.deepEqual(body.match(/<script.*?<\/script>/gs), ['<script type="module" src="/docs/page.js"></script>'])
    for (const tag of ['img', 'iframe', 'link', 'object', 'form']) assert.ok(!tags.includes(tag), tag)
    for (const attribute of attributes) assert.doesNotMatch(attribute, /^(on|style|srcset)/)
    const ids = [...body.matchAll(/ id="([^"]*)"/g)].map(([, id]) => `#${id}`)
    assert.deepEqual(ids, [...new Set(ids)])
    const others = ['/', '/openapi.json', '/docs/page.js']
    for (const link of links) assert.ok(others.includes(link) || ids.includes(link), link)
  })

  test('every script that the API reference imports is served, and no other file', async () => {
    const found = new Set<string>()
    const visit = async (path: string): Promise<void> => {
      if (found.has(path)) return
      found.add(path)
      const { statusCode, headers, body } = await service.app.inject(path)
      assert.deepEqual([statusCode, headers['content-type']], [200, 'text/javascript; charset=utf-8'], path)
      // Nothing in them turns text into HTML or code, and none is loaded from elsewhere.
      assert.doesNotMatch(body, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|https?:/)
      for (const [, name] of body.matchAll(/^import .* from '\.\/([^']+)'$/gm)) await visit(`/docs/${name}`)
    }
    await visit('/docs/page.js')
    assert.equal(found.size, 11)
    for (const path of ['/docs/tsconfig.json', '/docs/..%2fpage.ts', '/docs/page.css', '/docs/none.js']) {
      assert.equal((await service.app.inject(path)).statusCode, 404, path)
    }
  })

  test('the API reference and its document are sent compressed to clients that accept it', async () => {
    for (const path of ['/docs', '/openapi.json', '/docs/page.js']) {
      const plain = await service.app.inject(path)
      assert.equal(plain.headers['content-encoding'], undefined)
      for (const [encoding, decompress] of [
        ['gzip', gunzipSync],
        ['br', brotliDecompressSync],
      ] as const) {
        const compressed = await service.app.inject({ url: path, headers: { 'accept-encoding': encoding } })
        assert.equal(compressed.headers['content-encoding'], encoding)
        assert.equal(compressed.headers.vary, 'Accept-Encoding')
        assert.equal(String(decompress(compressed.rawPayload)), plain.body)
      }
    }
  })

  test('the API reference shows every event of a webhook and lists it in the contents', async () => {
    const { body } = await getPage()
    const { webhooks } = (await service.app.inject('/openapi.json')).json() as Document
    assert.ok(Object.keys(webhooks).length > 0)
    for (const [event, { post }] of Object.entries(webhooks)) {
      assert.ok(body.includes(`<h3 id="${post.operationId}">`), event)
      assert.ok(body.includes(`<li><a href="#${post.operationId}" title="${event}">`), event)
      assert.ok(body.includes(`<code>${event}</code>`), event)
    }
  })

  test('the API reference shows every operation and lists it in the contents', async () => {
    const { body } = await getPage()
    for (const { name, operation } of documentedOperations((await service.app.inject('/openapi.json')).json())) {
      assert.ok(body.includes(`<h3 id="${operation.operationId}">`), name)
      assert.ok(body.includes(`<li><a href="#${operation.operationId}" title="${name}">`), name)
    }
  })

  test('the API reference escapes all text', () => {
    const field = { type: 'string', description: hostile, default: hostile, examples: [hostile], enum: [hostile] }
    const body = { type: 'object', properties: { [hostile]: field }, examples: [{ [hostile]: hostile }] }
    const operation: Operation = {
      id: hostile,
      method: 'POST',
      path: '/api/v1/things/:thing_id',
      summary: hostile,
      description: hostile,
      tag: 'Prompts',
      params: { thing_id: field, [hostile]: field },
      query: body.properties,
      headers: body.properties,
      body,
      response: {
        200: { ...body, description: hostile, title: hostile },
        201: { description: hostile, headers: { [hostile]: { description: hostile, schema: field } }, content: {} },
        418: { ...body, examples: [{ error: { code: hostile, message: hostile } }], description: hostile },
      },
    }
    const page = renderDocsPage(describeApi([operation]), '')
    assert.ok(page.includes('&lt;script&gt;alert(1)&lt;/script&gt;'))
    assert.doesNotMatch(page, /<script(?! type="module" src="\/docs\/page.js">)|<img|<b>|onclick="/)
  })
})
