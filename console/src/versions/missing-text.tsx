import type { Live, Prompt } from '@promptledger/client'

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

interface Known {
  state: Live['content_state']
  /** Null for a change that was not read from git. */
  path: string | null
}

/** Why a version has no text to show. */
export function missingTextReason({ state, path }: Known): string {
  if (state === 'too_large') return 'The text is too large to show: together, the old and the new text exceed 16 MiB.'
  if (state === 'absent') return 'This version has no text: the change deleted the file.'
  if (path === null) {
    return 'The text is unavailable: this change was recorded through the API or an import, not read from git.'
  }
  return 'The text is unavailable: the repository no longer has this commit, or it is not connected.'
}
