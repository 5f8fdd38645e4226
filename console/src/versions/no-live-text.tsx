import type { Prompt } from '@promptledger/client'

/** Says why nothing is live yet, and what to do. */
export function NoLiveText({ prompt: { path } }: { prompt: Prompt }) {
  return (
    <>
      <h2 id="live-title">No version is live yet</h2>
      <p className="muted">
        {path === null
          ? 'This prompt was never read from git, and no change of it was recorded. Connect the repository with its file, or record changes through the API. Signals count already.'
          : 'No change of this file has reached the default branch, or none has been deployed to production. The text appears here once one has.'}
      </p>
    </>
  )
}
