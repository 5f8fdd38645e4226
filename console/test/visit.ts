import assert from 'node:assert/strict'
import type { ConsoleMessage, Dialog, Page, Request, Response, WebError } from 'playwright-core'

/** Somebody who looks at the console, in a browser that has never seen it. */
export class Visit {
  readonly page: Page
  readonly address: string
  /** What a browser told that it should not have had to. */
  readonly problems: string[] = []
  // Before anybody has signed in, the page has to ask whether somebody has.
  readonly #expected = ['401 GET /api/v1/session']

  constructor(page: Page, address: string) {
    this.page = page
    this.address = address
    page
      .context()
      .on('request', this.#onRequest)
      .on('requestfailed', this.#onRequestFailed)
      .on('response', this.#onResponse)
      .on('console', this.#onConsole)
      .on('weberror', this.#onError)
      .on('dialog', this.#onDialog)
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

  /** Nothing may have gone wrong in the browser. */
  end(): void {
    this.page
      .context()
      .off('request', this.#onRequest)
      .off('requestfailed', this.#onRequestFailed)
      .off('response', this.#onResponse)
      .off('console', this.#onConsole)
      .off('weberror', this.#onError)
      .off('dialog', this.#onDialog)
    assert.deepEqual(this.problems, [], 'the browser complained')
  }

  #onRequest = (request: Request): void => {
    const url = request.url()
    const isOwn = url.startsWith(`${this.address}/`) || /^(about|blob|data):/.test(url)
    if (!isOwn) this.problems.push(`a request to ${url}`)
  }

  #onRequestFailed = (request: Request): void => {
    const reason = request.failure()?.errorText
    // A page that is left, or a question that nobody waits for any more.
    if (reason !== 'net::ERR_ABORTED') this.problems.push(`${nameOf(request)}: ${reason}`)
  }

  #onResponse = (response: Response): void => {
    if (response.status() < 400) return
    const refusal = `${response.status()} ${nameOf(response.request())}`
    if (!this.#expected.includes(refusal)) this.problems.push(refusal)
  }

  #onConsole = (message: ConsoleMessage): void => {
    // Refusals are noticed by their answer, with its method.
    const isRefusal = message.text().startsWith('Failed to load resource')
    if (message.type() === 'error' && !isRefusal) this.problems.push(message.text())
  }

  #onError = (error: WebError): void => {
    this.problems.push(String(error.error()))
  }

  #onDialog = (dialog: Dialog): void => {
    this.problems.push(`a dialog says ${dialog.message()}`)
    dialog.dismiss().catch(() => {})
  }
}

function nameOf(request: Request): string {
  return `${request.method()} ${new URL(request.url()).pathname}`
}
