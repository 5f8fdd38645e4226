import type { Headers } from './forge.ts'

const printable = /^[ -~]{1,200}$/

/** The value of a header that was sent once; a repeated one could mean either value, so it has none. */
export function header(headers: Headers, name: string): string | null {
  const value = headers[name]
  return typeof value === 'string' ? value : null
}

/** The digest in a header of the form `sha256=<hex>`. */
export function sha256Header(headers: Headers, name: string): string | null {
  const value = header(headers, name)
  return value?.startsWith('sha256=') ? value.slice('sha256='.length) : null
}

/** The first of these headers that says something fit to be stored and shown. */
export function firstLabel(headers: Headers, names: string[]): string | null {
  for (const name of names) {
    const value = header(headers, name)
    if (value !== null && printable.test(value)) return value
  }
  return null
}
