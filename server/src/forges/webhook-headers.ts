import type { Headers } from '../domain/repositories/webhook-request.ts'

const printable = /^[ -~]{1,200}$/

/** The value of a header that was sent exactly once. A repeated header is ambiguous and counts as missing. */
export function header(headers: Headers, name: string): string | null {
  const value = headers[name]
  return typeof value === 'string' ? value : null
}

/** The digest in a header of the form `sha256=<hex>`. */
export function sha256Header(headers: Headers, name: string): string | null {
  const value = header(headers, name)
  return value?.startsWith('sha256=') ? value.slice('sha256='.length) : null
}

/** The first of these headers with a printable value of at most 200 characters, safe to store and display. */
export function firstPrintableHeader(headers: Headers, names: string[]): string | null {
  for (const name of names) {
    const value = header(headers, name)
    if (value !== null && printable.test(value)) return value
  }
  return null
}
