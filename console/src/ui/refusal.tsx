import { reasonOf } from '../queries.ts'

/** Why the service did not do what a form asked for; nothing as long as it did. */
export function Refusal({ error }: { error: unknown }) {
  if (error === null) return null
  return (
    <p className="field-error" role="alert">
      {reasonOf(error)}
    </p>
  )
}
