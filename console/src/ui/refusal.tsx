import { reasonOf } from '../queries.ts'

/** Why the service did not do what a form asked for; nothing as long as it did. */
export function Refusal({ error }: { error: unknown }) {
  if (error === null) return null
  return (
    <p className="field-error" role="alert" ref={show}>
      {reasonOf(error)}
    </p>
  )
}

/** In a long form it may be out of sight. */
function show(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: 'nearest' })
}
