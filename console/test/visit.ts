import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Browser, BrowserContext, BrowserContextOptions, Page, Request } from 'playwright-core'

const patience = 10_000

/** Somebody who looks at the console, in a browser that has never seen it. */
export class Visit {
  readonly context: BrowserContext
  readonly page: Page
  readonly address: string
  /** What a browser told that it should not have had to. */
  readonly problems: string[] = []
  // Before anybody has signed in, the page has to ask whether somebody has.
  readonly #expected = ['401 GET /api/v1/session']

  constructor(context: BrowserContext, page: Page, address: string) {
    this.context = context
    this.page = page
    this.address = address
    this.#watch()
  }

  /** Says that a refusal, such as `403 POST /api/v1/session`, is what the test is about. */
  expect(...refusals: string[]): void {
    this.#expected.push(...refusals)
  }

  async open(path: string): Promise<void> {
    await this.page.goto(this.address + path)
  }

  /** Signs in with the form, wherever the page is. */
  async signIn(key: string): Promise<void> {
    await this.submit(key)
    await this.page.locator('#main').waitFor()
  }

  async submit(key: string): Promise<void> {
    await this.page.getByLabel('API key').fill(key)
    await this.page.getByRole('button', { name: 'Sign in' }).click()
  }

  /** What the address bar says after the host. */
  get place(): string {
    const { pathname, search } = new URL(this.page.url())
    return pathname + search
  }

  async close(): Promise<void> {
    await this.context.close()
    assert.deepEqual(this.problems, [], 'the browser complained')
  }

  #watch(): void {
    const { context } = this
    context.on('request', (request) => {
      const url = request.url()
      if (!url.startsWith(`${this.address}/`) && !/^(data|blob):/.test(url)) this.problems.push(`a request to ${url}`)
    })
    context.on('response', (response) => {
      if (response.status() < 400) return
      const refusal = `${response.status()} ${nameOf(response.request())}`
      if (!this.#expected.includes(refusal)) this.problems.push(refusal)
    })
    context.on('requestfailed', (request) => {
      // A page that is left, or a question that nobody waits for any more.
      const reason = request.failure()?.errorText
      if (reason !== 'net::ERR_ABORTED') this.problems.push(`${nameOf(request)}: ${reason}`)
    })
    context.on('console', (message) => {
      // Refusals are noticed above, with their method.
      const isRefusal = message.text().startsWith('Failed to load resource')
      if (message.type() === 'error' && !isRefusal) this.problems.push(message.text())
    })
    context.on('weberror', (error) => this.problems.push(String(error.error())))
    context.on('dialog', (dialog) => {
      this.problems.push(`a dialog says ${dialog.message()}`)
      dialog.dismiss().catch(() => {})
    })
  }
}

function nameOf(request: Request): string {
  return `${request.method()} ${new URL(request.url()).pathname}`
}

export interface VisitOptions extends BrowserContextOptions {
  /** Where to begin; `/` where nothing is said. */
  at?: string
  /** Signs in with it. */
  key?: string
}

/** Opens the console; at the end of the test, nothing may have gone wrong in the browser. */
export async function visit(
  t: TestContext,
  browser: Browser,
  address: string,
  { at = '/', key, ...options }: VisitOptions = {},
): Promise<Visit> {
  const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'Europe/Berlin', ...options })
  context.setDefaultTimeout(patience)
  await context.addInitScript(tellOfViolations)
  const visitor = new Visit(context, await context.newPage(), address)
  t.after(() => visitor.close())
  await visitor.open(at)
  if (key !== undefined) await visitor.signIn(key)
  return visitor
}

/** Runs in the page: what its policy forbids becomes an error like any other. */
function tellOfViolations(): void {
  document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
    console.error(`against the policy: ${violatedDirective} ${blockedURI}`),
  )
}
