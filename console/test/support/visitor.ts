import assert from 'node:assert/strict'
import type { ConsoleMessage, Dialog, Page, Request, Response, WebError } from 'playwright-core'
import { eventually } from '../../../testing/eventually.ts'

/** A user of the console, in a browser without any stored data. */
export class Visitor {
  readonly page: Page
  readonly address: string
  /** Unexpected errors: failed requests, requests to other hosts, script errors, policy violations. */
  readonly problems: string[] = []
  // A signed-out page has to ask whether there is a session.
  readonly #expectedErrors = ['401 GET /api/v1/session']

  /** Requests to the API that have no complete response yet. */
  readonly #underWay = new Set<Request>()

  #allowsDialogs = false
  #allowsEndOfSession = false
  #allowsScriptErrors = false
  // Leaving a page aborts its requests.
  #expectedFailure = 'net::ERR_ABORTED'

  constructor(page: Page, address: string) {
    this.page = page
    this.address = address
    page
      .context()
      .on('request', this.#onRequest)
      .on('requestfinished', this.#onRequestFinished)
      .on('requestfailed', this.#onRequestFailed)
      .on('response', this.#onResponse)
      .on('console', this.#onConsole)
      .on('weberror', this.#onError)
      .on('dialog', this.#onDialog)
  }

  /** Allows error responses, such as `403 POST /api/v1/session`. */
  expectErrors(...responses: string[]): void {
    this.#expectedErrors.push(...responses)
  }

  /**
   * Allows every request to find the session ended: which ones do depends on what is under way at that moment. Call it
   * before the session ends.
   */
  expectEndOfSession(): void {
    this.#allowsEndOfSession = true
  }

  /** Allows requests to fail for this reason, such as `net::ERR_CONNECTION_REFUSED`. */
  expectFailures(reason: string): void {
    this.#expectedFailure = reason
  }

  /** Allows errors of scripts. */
  allowScriptErrors(): void {
    this.#allowsScriptErrors = true
  }

  /** Allows the browser's own questions, such as the one before a page is left. Each is answered with Cancel. */
  allowDialogs(): void {
    this.#allowsDialogs = true
  }

  async open(path: string): Promise<void> {
    await this.page.goto(this.address + path)
  }

  /** Signs in without the form, which takes a page of its own. */
  async startSession(key: string): Promise<void> {
    const headers = { authorization: `Bearer ${key}`, origin: this.address }
    const response = await this.page.request.post(`${this.address}/api/v1/session`, { headers })
    assert.equal(response.status(), 201, await response.text())
  }

  /** Signs in with the form on the current page. */
  async signIn(key: string): Promise<void> {
    await this.submitKey(key)
    await this.page.locator('#main').waitFor()
  }

  async submitKey(key: string): Promise<void> {
    await this.page.getByLabel('API key').fill(key)
    await this.page.getByRole('button', { name: 'Sign in' }).click()
  }

  /**
   * Waits until the page has all its data. What arrives later would move the page under a click, replace what is clicked,
   * or find out that a session has ended before the test does.
   */
  async settle(): Promise<void> {
    await eventually(async () => {
      this.#checkNothingIsUnderWay()
      // A response may cause another request, once the page has rendered it.
      await this.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
      this.#checkNothingIsUnderWay()
      assert.equal(await this.page.locator('.loading').count(), 0, 'the page is loading')
    })
  }

  #checkNothingIsUnderWay(): void {
    assert.deepEqual([...this.#underWay].map(nameOf), [], 'requests are under way')
  }

  /** The path and query of the current URL. */
  get path(): string {
    const { pathname, search } = new URL(this.page.url())
    return pathname + search
  }

  /** Fails if the browser reported a problem. */
  end(): void {
    this.page
      .context()
      .off('request', this.#onRequest)
      .off('requestfinished', this.#onRequestFinished)
      .off('requestfailed', this.#onRequestFailed)
      .off('response', this.#onResponse)
      .off('console', this.#onConsole)
      .off('weberror', this.#onError)
      .off('dialog', this.#onDialog)
    assert.deepEqual(this.problems, [], 'the browser reported problems')
  }

  #onRequest = (request: Request): void => {
    const url = request.url()
    const isOwn = url.startsWith(`${this.address}/`) || /^(about|blob|data):/.test(url)
    if (!isOwn) this.problems.push(`a request to ${url}`)
    // A new page aborts the requests of the one before it, and not every one of them is reported as failed.
    if (request.isNavigationRequest()) this.#underWay.clear()
    else if (url.startsWith(`${this.address}/api/`)) this.#underWay.add(request)
  }

  #onRequestFinished = (request: Request): void => {
    this.#underWay.delete(request)
  }

  #onRequestFailed = (request: Request): void => {
    this.#underWay.delete(request)
    const reason = request.failure()?.errorText
    if (reason !== 'net::ERR_ABORTED' && reason !== this.#expectedFailure)
      this.problems.push(`${nameOf(request)}: ${reason}`)
  }

  #onResponse = (response: Response): void => {
    if (response.status() < 400 || (response.status() === 401 && this.#allowsEndOfSession)) return
    const error = `${response.status()} ${nameOf(response.request())}`
    if (!this.#expectedErrors.includes(error)) this.problems.push(error)
  }

  #onConsole = (message: ConsoleMessage): void => {
    // #onResponse reports error responses, with their method.
    const isErrorResponse = message.text().startsWith('Failed to load resource')
    if (message.type() === 'error' && !isErrorResponse && !this.#allowsScriptErrors) this.problems.push(message.text())
  }

  #onError = (error: WebError): void => {
    if (!this.#allowsScriptErrors) this.problems.push(String(error.error()))
  }

  #onDialog = (dialog: Dialog): void => {
    const isLeaving = dialog.type() === 'beforeunload'
    if (!this.#allowsDialogs && !isLeaving) this.problems.push(`an alert: ${dialog.message()}`)
    // A test that opens another page means to leave this one.
    const answer = isLeaving && !this.#allowsDialogs ? dialog.accept() : dialog.dismiss()
    answer.catch(() => {})
  }
}

function nameOf(request: Request): string {
  return `${request.method()} ${new URL(request.url()).pathname}`
}
