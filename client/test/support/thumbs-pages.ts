import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, beforeEach } from 'node:test'
import type { BrowserContextOptions, Locator, Page } from 'playwright-core'
import type { BrowserSuite } from '../../../console/test/support/browser.ts'
import { onTestEnd } from '../../../testing/cleanup.ts'
import { eventually } from '../../../testing/eventually.ts'
import { HttpProxy } from '../../../testing/http-proxy.ts'
import type { Tenant } from '../../../testing/service.ts'
import { createSigningKey } from '../../../testing/vote-tokens.ts'
import { Promptledger } from '../../src/index.ts'
import { type PackedClient, usePackedClient } from '../packed-client.ts'

export const version = 'a1'.repeat(20)
export const hourMs = 3_600_000

/** An application whose users vote on one output of its model. */
export interface Application {
  tenant: Tenant
  sign(subject?: string): Promise<string>
  /** The signals of its prompt. */
  signals(): Promise<Record<string, unknown>[]>
}

export interface PageOptions extends BrowserContextOptions {
  /** Attributes of the element, beside its token and endpoint. */
  attributes?: string
  /** The module of the page, in place of one that only loads the element. */
  script?: string
  /** Keeps the timers of the page from running. */
  stopTimers?: boolean
}

declare global {
  interface Window {
    /** The events that the element fired. */
    events: [type: string, detail: unknown][]
    /** How often a page that counts called `fetch`, and how often that ended. */
    sent: number
    answered: number
    /** Set by the pages with a framework. */
    show(token: string): void
  }
}

/** Pages with the element, of another origin than the service. */
export interface ThumbsPages {
  /** The packed client in a project with these other packages. */
  client: PackedClient
  /** Between the pages and the service. */
  proxy: HttpProxy
  createApplication(): Promise<Application>
  /** Serves a page of the application, under a strict policy, and opens it. */
  open(application: Application, options?: PageOptions): Promise<Page>
  /** Waits until the service has this vote and no other, and returns it. */
  recorded(application: Application, value: string, comment?: string | null): Promise<Record<string, unknown>>
}

export function useThumbsPages(suite: BrowserSuite, ...packages: string[]): ThumbsPages {
  const client = usePackedClient(...packages)
  const proxy = new HttpProxy()
  before(() => {
    // Applications sign with the real time.
    suite.service.now = Date.now()
    return proxy.open(Number(new URL(suite.address).port))
  })
  beforeEach(() => proxy.reset())
  after(() => proxy.close())

  async function createApplication(): Promise<Application> {
    const tenant = await suite.service.tenant()
    const { secret } = await createSigningKey(suite.service, tenant)
    const { tokens } = new Promptledger({ signingKey: secret })
    const prompt = tenant.prompt.publicId
    return {
      tenant,
      sign: (subject = 'answer-1') => tokens.sign({ prompt, version, subject, voter: 'user-42' }),
      async signals() {
        const response = await suite.request(tenant.key, `/prompts/${prompt}/signals`)
        return ((await response.json()) as { data: Record<string, unknown>[] }).data
      },
    }
  }

  async function open({ sign }: Application, options: PageOptions = {}): Promise<Page> {
    const { attributes = '', script = "import '/thumbs.js'", stopTimers = false, ...contextOptions } = options
    const files: Record<string, [type: string, content: string | Buffer]> = {
      '/': ['text/html', pageWith(`token="${await sign()}" endpoint="${proxy.address}/" ${attributes}`)],
      '/page.js': ['text/javascript', script],
      '/events.js': ['text/javascript', collectEvents],
      '/thumbs.js': ['text/javascript', await readFile(join(client.installed, 'dist/thumbs.js'))],
    }
    const policy = `default-src 'none'; script-src 'self'; connect-src ${proxy.address}; ${trustedTypes}`
    const server = createServer(({ url = '' }, response) => {
      const [type, content] = files[url] ?? ['text/plain', '']
      response.setHeader('Content-Type', `${type}; charset=utf-8`)
      response.setHeader('Content-Security-Policy', policy)
      response.end(content)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestEnd(() => server.close())
    const context = await suite.browser.newContext(contextOptions)
    context.setDefaultTimeout(30_000)
    onTestEnd(() => context.close())
    const page = await context.newPage()
    if (stopTimers) await page.clock.install()
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    await page.locator('promptledger-thumbs').getByRole('button').first().waitFor()
    if (stopTimers) await page.clock.pauseAt(Date.now() + hourMs)
    return page
  }

  function recorded({ signals }: Application, value: string, comment: string | null = null) {
    return eventually(async () => {
      const [signal = {}, ...others] = await signals()
      assert.deepEqual([signal.value, signal.comment, others], [value, comment, []])
      return signal
    })
  }

  return { client, proxy, createApplication, open, recorded }
}

const trustedTypes = "require-trusted-types-for 'script'; trusted-types 'none'"

const collectEvents = `
  window.events = []
  for (const type of ['vote', 'error']) {
    document.querySelector('promptledger-thumbs').addEventListener(type, ({ detail }) => window.events.push([type, detail]))
  }`

function pageWith(attributes: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Shop</title>
    <meta name="viewport" content="width=device-width">
    <main><h1>Answer</h1><promptledger-thumbs ${attributes}></promptledger-thumbs></main>
    <script type="module" src="/events.js"></script><script type="module" src="/page.js"></script></html>`
}

export function good(page: Page): Locator {
  return page.getByRole('button', { name: 'Good answer' })
}

export function bad(page: Page): Locator {
  return page.getByRole('button', { name: 'Bad answer' })
}

export function pressed(page: Page): Promise<(string | null)[]> {
  return Promise.all([good(page), bad(page)].map((button) => button.getAttribute('aria-pressed')))
}

export async function status(page: Page, text: string): Promise<void> {
  await eventually(async () => assert.equal(await page.getByRole('status').textContent(), text))
}

export function eventsOf(page: Page): Promise<Window['events']> {
  return page.evaluate(() => window.events)
}
