import { ConnectionError, TimeoutError, ValidationError } from '@promptledger/client'
import { errorMessage } from '../query-client.ts'
import { RequestId } from './request-id.tsx'

/** The label of each field of a form, by its name in the API. */
export type Labels = Record<string, string>

interface Props {
  error: unknown
  labels?: Labels
}

/** Why the service rejected what the form sent, in the words of the form. */
export function FormError({ error, labels = {} }: Props) {
  if (error === null) return null
  return (
    <p className="form-error" role="alert" ref={bringIntoView}>
      {messageOf(error, labels)}
      <RequestId error={error} onlyFailures />
    </p>
  )
}

/** What an error says about one of these fields, for its place in the form; undefined if it is about something else. */
export function errorAt(error: unknown, names: string[], labels: Labels): string | undefined {
  if (!(error instanceof ValidationError)) return undefined
  return names.some((name) => error.message.startsWith(`${name} `)) ? messageOf(error, labels) : undefined
}

function messageOf(error: unknown, labels: Labels): string {
  if (error instanceof ConnectionError || error instanceof TimeoutError) {
    return 'The server did not respond, so this may or may not have been done. Check before you try again.'
  }
  return withLabels(errorMessage(error), labels)
}

/**
 * Replaces the API's names of fields, which the form does not show. A message starts with the name of its field, such as
 * `keys.0 must…` or `rules.name must…`. Elsewhere in it, only names with an underscore are certain to be names.
 */
function withLabels(message: string, labels: Labels): string {
  const labelOf = (name: string) =>
    Object.hasOwn(labels, name) ? labels[name]?.replace(/ \(optional\)$/, '') : undefined
  const [, nested = ''] = /^(\w+\.[a-z_]+) /.exec(message) ?? []
  if (Object.hasOwn(labels, nested)) return `${labelOf(nested)}${message.slice(nested.length)}`
  const [, first = '', index] = /^(\w+)(?:\.(\d+))?(?=[ .])/.exec(message) ?? []
  const label = labelOf(first)
  const position = index === undefined ? '' : ` ${Number(index) + 1}`
  const start = index === undefined ? first : `${first}.${index}`
  const rest = label === undefined ? message : message.slice(start.length)
  return `${label === undefined ? '' : label + position}${rest.replaceAll(/\b[a-z]+(?:_[a-z]+)+\b/g, (name) => labelOf(name) ?? name)}`
}

/** A long form may have scrolled the error out of view. */
function bringIntoView(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: 'nearest' })
}
