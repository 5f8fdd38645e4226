/** Shown only where waiting takes long enough to be noticed: see states.css. */
export function Loading({ what }: { what: string }) {
  return (
    <div className="loading" role="status">
      <span className="loading-bar" aria-hidden="true" />
      <span>Loading {what} …</span>
    </div>
  )
}
