import { errorMessage } from '../query-client.ts'

interface Props {
  error: unknown
  /** The label of each field, by its name in the API. */
  labels?: Record<string, string>
}

/** Why the service rejected what the form sent. */
export function FormError({ error, labels = {} }: Props) {
  if (error === null) return null
  // Validation messages start with the field's name in the API, which the form does not show.
  const message = errorMessage(error).replace(
    /^\w+/,
    (name) => (Object.hasOwn(labels, name) ? labels[name] : name) as string,
  )
  return (
    <p className="form-error" role="alert" ref={bringIntoView}>
      {message}
    </p>
  )
}

/** A long form may have scrolled the error out of view. */
function bringIntoView(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: 'nearest' })
}
