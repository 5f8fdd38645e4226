/** Stays invisible for the first 250 ms, so that fast loads do not flicker: see states.css. */
export function Loading({ what }: { what: string }) {
  return (
    <div className="loading" role="status">
      <span className="loading-bar" aria-hidden="true" />
      <span>Loading {what}…</span>
    </div>
  )
}
