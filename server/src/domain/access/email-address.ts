import { invalidField } from '../errors.ts'

const shape = /^[^\s@<>"',;:\\()[\]\p{Cc}]{1,64}@[a-z0-9-]+(?:\.[a-z0-9-]+)+$/u
const maxLength = 254

/** The address in lower case, as it is stored and compared, or null if it is none. */
export function normalEmail(text: string): string | null {
  const email = text.trim().toLowerCase()
  return email.length <= maxLength && email.isWellFormed() && shape.test(email) ? email : null
}

export function validEmail(field: string, text: string): string {
  const email = normalEmail(text)
  if (email === null) throw invalidField(field, 'must be an email address')
  return email
}

export function domainOf(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1)
}

/** The mailbox that the address belongs to: most servers deliver what follows a plus to the same one. */
export function mailboxOf(email: string): string {
  return email.replace(/\+[^@]*(?=@)/, '')
}
