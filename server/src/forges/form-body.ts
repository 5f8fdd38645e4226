// A webhook with the content type application/x-www-form-urlencoded sends the JSON in this field, the only one of the form.
const prefix = 'payload='

export function isForm(body: Buffer): boolean {
  return body.subarray(0, prefix.length).toString('latin1') === prefix
}

/** The JSON of a delivery, which may be in a form. */
export function jsonOf(body: string): string {
  return body.startsWith(prefix) ? (new URLSearchParams(body).get('payload') ?? '') : body
}
