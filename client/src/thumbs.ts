// <promptledger-thumbs token="plt_…" endpoint="https://ledger.example.com" comment></promptledger-thumbs>
//
// One file without imports, so that a page without a build step can load it as it is.

/** The vote that a user sees and the service stores. Null after it was withdrawn. */
export interface ThumbsVote {
  value: 'positive' | 'negative' | null
  comment: string
}

/** Why the service rejected a vote. */
export interface ThumbsError {
  status: number
  /** The code of the API, such as `unauthorized` for an expired token. */
  code: string
  message: string
}

/** The texts that an attribute `label-…` can replace, in English. */
export const thumbsLabels = {
  group: 'Rate this answer',
  positive: 'Good answer',
  negative: 'Bad answer',
  comment: 'What should we know?',
  send: 'Send comment',
  voted: 'Thank you for your vote.',
  commented: 'Thank you for your comment.',
  withdrawn: 'Vote withdrawn.',
  waiting: 'Not sent yet. Trying again…',
  failed: 'Your vote was not saved.',
}

export type ThumbsLabel = keyof typeof thumbsLabels

const requestTimeoutMs = 15_000
const firstRetryMs = 1_000
const maxRetryMs = 60_000
// As long as the API allows.
const maxCommentLength = 2_000

/** Where to send votes, and with which token. */
interface Address {
  url: string
  token: string
}

/** Sends the last vote on one subject. */
interface Sender {
  add(vote: ThumbsVote): void
  retry(): void
  leave(): void
}

// Those whose last vote the service has neither stored nor rejected.
const unsent = new Set<Sender>()

/**
 * Retries until the service accepts or rejects the vote, even if the element is gone. Reports the outcome: no error if the vote
 * is stored, null if it will be sent again.
 */
function createSender(
  address: Address,
  report: (vote: ThumbsVote, error: ThumbsError | null | undefined) => void,
): Sender {
  /** The last vote, the one that the request under way carries, and the one that was left to the browser. */
  let vote: ThumbsVote
  let inFlight: ThumbsVote | undefined
  let beacon: ThumbsVote | undefined
  let attempt: AbortController
  let timer: ReturnType<typeof setTimeout>
  let delay: number

  const body = () =>
    JSON.stringify({ token: address.token, value: vote.value, ...(vote.comment && { comment: vote.comment }) })

  async function send(): Promise<void> {
    clearTimeout(timer)
    // One request at a time, so that the last click wins.
    if (inFlight) return
    const sent = vote
    inFlight = sent
    attempt = new AbortController()
    timer = setTimeout(() => attempt.abort(), requestTimeoutMs)
    const error = await fetch(address.url, {
      method: 'POST',
      // Text, which needs no preflight.
      body: body(),
      credentials: 'omit',
      signal: attempt.signal,
    }).then(rejection, () => null)
    clearTimeout(timer)
    inFlight = undefined
    if (vote !== sent) return send()
    if (error === null) {
      // At random, so that pages which lost the service do not all return at the same time.
      timer = setTimeout(send, delay * (0.5 + Math.random() / 2))
      delay = Math.min(delay * 2, maxRetryMs)
    } else {
      unsent.delete(sender)
    }
    report(sent, error)
  }

  const sender = {
    add(added: ThumbsVote) {
      vote = added
      delay = firstRetryMs
      unsent.add(sender)
      void send()
    },

    retry: () => void send(),

    /** The page may not come back, and its requests end with it. If it does, it sends the vote again, which changes nothing. */
    leave() {
      if (beacon === vote) return
      // An earlier vote must not arrive last.
      if (inFlight !== vote) attempt.abort()
      if (navigator.sendBeacon(address.url, body())) beacon = vote
    },
  }
  return sender
}

/** Undefined for success, null for a failure that may pass. */
async function rejection(response: Response): Promise<ThumbsError | null | undefined> {
  const { ok, status, headers } = response
  if (ok) return
  // Only the monthly limit takes longer than a minute to reset.
  const isTemporary = status === 429 && Number(headers.get('Retry-After')) * 1_000 <= maxRetryMs
  if (status >= 500 || isTemporary) return null
  const { code = '', message = '' } = (await response.json().catch(() => null))?.error ?? {}
  return { status, code, message }
}

if (globalThis.window) {
  const leave = () => {
    for (const sender of unsent) sender.leave()
  }
  addEventListener('pagehide', leave)
  addEventListener('online', () => {
    for (const sender of unsent) sender.retry()
  })
  // Mobile browsers end a page in the background without any further event.
  document.addEventListener('visibilitychange', () => document.hidden && leave())
}

const css = `
:host{display:inline-block}
:host([hidden]),[hidden]{display:none!important}
div{display:inline-flex;gap:var(--thumbs-gap,.25em);vertical-align:middle}
button,textarea{font:inherit;color:inherit;background:none;border:1px solid transparent;border-radius:var(--thumbs-radius,.5em)}
button{display:inline-flex;align-items:center;justify-content:center;min-width:2.25em;min-height:2.25em;padding:.25em;cursor:pointer}
button:where(:hover){background:color-mix(in srgb,currentColor 10%,transparent)}
button:disabled{opacity:.5;cursor:default}
[aria-pressed=true]{color:var(--thumbs-accent,currentColor);border-color:currentColor;background:color-mix(in srgb,currentColor 12%,transparent)}
:focus-visible{outline:2px solid var(--thumbs-accent,currentColor);outline-offset:2px}
svg{width:var(--thumbs-size,1.25em);height:var(--thumbs-size,1.25em);fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round}
[aria-pressed=true] svg{fill:currentColor;fill-opacity:.35}
[part~=negative] svg{transform:scaleY(-1)}
form{margin-block:.5em 0}
label{display:block}
textarea{display:block;box-sizing:border-box;width:22em;max-width:100%;resize:vertical;margin-block:.25em .5em;padding:.5em}
textarea,[part~=send]{border-color:color-mix(in srgb,currentColor 55%,transparent)}
[part~=send]{padding-inline:.75em}
[part=status]{margin-inline-start:.5em;font-size:.875em}
[part=status]:empty{margin:0}
@media(pointer:coarse){button{min-width:44px;min-height:44px}}
@media(prefers-reduced-motion:no-preference){button{transition:background-color .15s,color .15s,transform .15s}button:active{transform:scale(.9)}}
@media(forced-colors:active){[aria-pressed=true]{forced-color-adjust:none;color:HighlightText;background:Highlight}}
`

let sheet: CSSStyleSheet | undefined

/** A sheet rather than a style element, which a Content-Security-Policy may block. */
function styles(): CSSStyleSheet {
  if (!sheet) {
    sheet = new CSSStyleSheet()
    sheet.replaceSync(css)
  }
  return sheet
}

/** Nodes rather than HTML, which pages with trusted types do not accept as text. */
function create<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Record<string, string>,
  ...children: Node[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
  element.append(...children)
  return element
}

function icon(): Element {
  const [svg, path] = [drawn('svg'), drawn('path')]
  svg.setAttribute('viewBox', '0 0 24 24')
  svg.setAttribute('aria-hidden', 'true')
  path.setAttribute('d', 'M8 20H4v-9h4m0 9V11l4-8c2 0 3 1 3 3l-1 4h6l-1 8c-.2 1.3-.9 2-2 2z')
  svg.append(path)
  return svg
}

function drawn(name: string): Element {
  return document.createElementNS('http://www.w3.org/2000/svg', name)
}

/** The part of a token that stays when the application signs a new one for the same output. */
function subjectOf(token: string): string {
  try {
    const payload = atob(token.slice(4).split('.', 1)[0]?.replace(/-/g, '+').replace(/_/g, '/') ?? '')
    return /"p":.*(?=,"e":)/.exec(payload)?.[0] ?? token
  } catch {
    return token
  }
}

// On a server that renders pages there are no elements, and importing this must not fail.
const Base = globalThis.HTMLElement ?? (class {} as typeof HTMLElement)

const none: ThumbsVote = { value: null, comment: '' }

/**
 * Thumbs up and thumbs down for one output of a model. Fires `vote` with a `ThumbsVote` when the service has stored a vote, and
 * `error` with a `ThumbsError` when it rejected one.
 */
export class PromptledgerThumbs extends Base {
  static observedAttributes = [
    'token',
    'endpoint',
    'value',
    'comment',
    ...Object.keys(thumbsLabels).map((name) => `label-${name}`),
  ]

  #current = none
  #saved = none
  #address: Address = { token: '', url: '' }
  #sender: Sender | undefined
  /** Rejected because of its token. Sent once more if the page sets a new one. */
  #rejected: ThumbsVote | undefined
  #resent: ThumbsVote | undefined
  #buttons = (['positive', 'negative'] as const).map((name) => {
    const button = create('button', { type: 'button', name }, create('slot', { name }, icon()))
    button.onclick = () => this.#save(this.#current.value === name ? none : { ...this.#current, value: name })
    return button
  })
  #group = create('div', { role: 'group' }, ...this.#buttons)
  #status = create('span', { part: 'status', role: 'status' })
  #question = create('span', {})
  #comment = create('textarea', { part: 'comment', rows: '2', maxlength: `${maxCommentLength}` })
  #submit = create('button', { part: 'button send' })
  #form = create('form', { part: 'form' }, create('label', {}, this.#question, this.#comment), this.#submit)

  constructor() {
    super()
    this.#form.onsubmit = (event) => {
      event.preventDefault()
      this.#save({ ...this.#current, comment: this.#comment.value.trim() })
    }
    const root = this.attachShadow({ mode: 'open', delegatesFocus: true })
    root.adoptedStyleSheets = [styles()]
    root.append(this.#group, this.#status, this.#form)
    this.#render()
  }

  attributeChangedCallback(name: string): void {
    if (name === 'token' || name === 'endpoint') this.#connect()
    if (name === 'value') this.#reset()
    this.#render()
  }

  #connect(): void {
    const token = this.getAttribute('token') ?? ''
    const url = `${(this.getAttribute('endpoint') ?? '').replace(/\/+$/, '')}/api/v1/votes`
    const isSame = subjectOf(this.#address.token) === subjectOf(token)
    if (isSame) {
      Object.assign(this.#address, { token, url })
      this.#resent = this.#rejected
      if (this.#resent) this.#save(this.#resent)
      return
    }
    const address = { token, url }
    this.#address = address
    // The previous sender continues. Its outcome is not shown, because the element is for another output now.
    this.#sender = createSender(address, (...outcome) => this.#address === address && this.#report(...outcome))
    this.#reset()
  }

  #reset(): void {
    const value = this.getAttribute('value')
    this.#current = value === 'positive' || value === 'negative' ? { value, comment: '' } : none
    this.#saved = this.#current
    this.#status.textContent = ''
  }

  /** The user sees the vote at once. */
  #save(vote: ThumbsVote): void {
    this.#current = vote
    this.#rejected = undefined
    this.#status.textContent = ''
    this.#render()
    this.#sender?.add(vote)
  }

  #report(vote: ThumbsVote, error: ThumbsError | null | undefined): void {
    if (error === null) {
      this.#tell('waiting')
      return
    }
    if (error) {
      this.#tell('failed')
      this.#current = this.#saved
      this.#rejected = error.status === 401 && this.#resent !== vote ? vote : undefined
    } else {
      this.#tell(!vote.value ? 'withdrawn' : vote.comment === this.#saved.comment ? 'voted' : 'commented')
      this.#saved = vote
    }
    this.#render()
    this.dispatchEvent(
      error
        ? new CustomEvent('error', { detail: error })
        : new CustomEvent('vote', { detail: vote, bubbles: true, composed: true }),
    )
  }

  #label(name: ThumbsLabel): string {
    return this.getAttribute(`label-${name}`) ?? thumbsLabels[name]
  }

  #tell(name: ThumbsLabel): void {
    this.#status.textContent = this.#label(name)
  }

  #render(): void {
    const { value } = this.#current
    this.#group.ariaLabel = this.#label('group')
    for (const button of this.#buttons) {
      const name = button.name as 'positive' | 'negative'
      const isPressed = value === name
      button.disabled = !this.#address.token
      button.ariaLabel = this.#label(name)
      button.ariaPressed = `${isPressed}`
      button.part = `button ${name}${isPressed ? ' pressed' : ''}`
    }
    if (!value) this.#form.reset()
    this.#form.hidden = !value || !this.hasAttribute('comment')
    this.#question.textContent = this.#label('comment')
    this.#submit.textContent = this.#label('send')
  }
}

const name = 'promptledger-thumbs'
if (globalThis.customElements && !customElements.get(name)) customElements.define(name, PromptledgerThumbs)

/** The types of the events. First in the intersection, because browsers have an `error` event of their own. */
interface ThumbsEvents {
  addEventListener(
    type: 'vote',
    listener: (event: CustomEvent<ThumbsVote>) => void,
    options?: boolean | AddEventListenerOptions,
  ): void
  addEventListener(
    type: 'error',
    listener: (event: CustomEvent<ThumbsError>) => void,
    options?: boolean | AddEventListenerOptions,
  ): void
}

declare global {
  interface HTMLElementTagNameMap {
    'promptledger-thumbs': ThumbsEvents & PromptledgerThumbs
  }
}
