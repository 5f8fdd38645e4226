import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import type { RouteOptions } from 'fastify'
import { sqlite } from '../../../testing/engines.ts'
import { documentedOperations } from '../../../testing/operations.ts'
import { useService } from '../../../testing/service.ts'
import { describeRoutes } from '../../src/http/docs/openapi.ts'
import type { Document } from '../../src/http/docs/openapi-document.ts'
import { renderDocsPage } from '../../src/http/docs/page.ts'

const hostile = `</p></style><script>alert(1)</script><img src=x onerror=alert(1)>"' onclick="alert(1) &lt; \`<b>\``

function route(schema: RouteOptions['schema']): RouteOptions {
  return { method: 'POST', url: '/api/v1/things/:thing_id', schema: schema ?? {}, handler: () => {} }
}

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

  test('the API reference has a policy that allows nothing but its own style', async () => {
    const response = await getPage()
    assert.equal(response.statusCode, 200)
    assert.equal(response.headers['content-type'], 'text/html; charset=utf-8')
    assert.equal(response.headers['x-content-type-options'], 'nosniff')
    const [, style = ''] = /<style>(.*?)<\/style>/s.exec(response.body) ?? []
    const hash = createHash('sha256').update(style).digest('base64')
    assert.equal(
      response.headers['content-security-policy'],
      `default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; style-src 'sha256-${hash}'`,
    )
    assert.doesNotMatch(style, /url\(|@import/)
  })

  test('the API reference has no scripts and only links to itself and the OpenAPI document', async () => {
    const { body } = await getPage()
    const { tags, attributes, links } = markup(body)
    for (const tag of ['script', 'img', 'iframe', 'link', 'object', 'form']) assert.ok(!tags.includes(tag), tag)
    for (const attribute of attributes) assert.doesNotMatch(attribute, /^(on|style|src)/)
    const ids = [...body.matchAll(/ id="([^"]*)"/g)].map(([, id]) => `#${id}`)
    assert.deepEqual(ids, [...new Set(ids)])
    for (const link of links) assert.ok(link === '/openapi.json' || ids.includes(link), link)
  })

  test('the API reference shows every event of a webhook and lists it in the contents', async () => {
    const { body } = await getPage()
    const { webhooks } = (await service.app.inject('/openapi.json')).json() as Document
    assert.ok(Object.keys(webhooks).length > 0)
    for (const [event, { post }] of Object.entries(webhooks)) {
      assert.ok(body.includes(`<h3 id="${post.operationId}">`), event)
      assert.ok(body.includes(`<li><a href="#${post.operationId}">`), event)
      assert.ok(body.includes(`<code>${event}</code>`), event)
    }
  })

  test('the API reference shows every operation and lists it in the contents', async () => {
    const { body } = await getPage()
    for (const { name, operation } of documentedOperations((await service.app.inject('/openapi.json')).json())) {
      assert.ok(body.includes(`<h3 id="${operation.operationId}">`), name)
      assert.ok(body.includes(`<li><a href="#${operation.operationId}">`), name)
    }
  })

  test('the API reference escapes all text', () => {
    const field = { type: 'string', description: hostile, default: hostile, examples: [hostile], enum: [hostile] }
    const body = { type: 'object', properties: { [hostile]: field }, examples: [{ [hostile]: hostile }] }
    const schema = {
      operationId: hostile,
      summary: hostile,
      description: hostile,
      tags: ['Prompts'],
      params: { type: 'object', properties: { thing_id: field, [hostile]: field } },
      querystring: body,
      headers: body,
      body,
      response: {
        200: { ...body, description: hostile, title: hostile },
        201: { description: hostile, headers: { [hostile]: { description: hostile, schema: field } }, content: {} },
        418: { ...body, examples: [{ error: { code: hostile, message: hostile } }], description: hostile },
      },
    }
    const page = renderDocsPage(describeRoutes([route(schema)]), '')
    assert.ok(page.includes('&lt;script&gt;alert(1)&lt;/script&gt;'))
    assert.doesNotMatch(page, /<script|<img|<b>|onclick="/)
  })
})
