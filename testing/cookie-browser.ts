/** Sends requests like a browser without scripts: keeps cookies for each host, and follows redirects if asked. */
export class CookieBrowser {
  readonly cookies = new Map<string, Map<string, string>>()

  async send(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const { host, origin } = new URL(url)
    const kept = this.cookies.get(host) ?? new Map<string, string>()
    this.cookies.set(host, kept)
    const cookie = [...kept].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { accept: 'text/html', ...(cookie !== '' && { cookie }), origin, ...init.headers }
    const response = await fetch(url, { ...init, headers, redirect: 'manual' })
    for (const text of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? []
      if (value === '' || /max-age=0|expires=Thu, 01 Jan 1970/i.test(text)) kept.delete(name)
      else kept.set(name, value)
    }
    return response
  }

  post(url: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
    const json = { 'content-type': 'application/json', ...headers }
    return this.send(url, { method: 'POST', headers: json, body: JSON.stringify(body) })
  }

  /** Follows redirects, and presses the only button of each form, until the next URL starts with `until`. */
  async follow(url: string, until: string): Promise<string> {
    let next = url
    for (let steps = 0; steps < 10; steps++) {
      if (next.startsWith(until)) return next
      let response = await this.send(next)
      if (response.status === 200) response = await this.send(next, { method: 'POST' })
      const location = response.headers.get('location')
      if (location === null) throw new Error(`${next} answered ${response.status}: ${await response.text()}`)
      next = new URL(location, next).href
    }
    throw new Error(`too many redirects, the last to ${next}`)
  }
}
