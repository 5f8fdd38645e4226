import type { Prompt } from '@promptledger/client'
import { isSignedOut } from '../sessions/ended-session.ts'
import { canEdit } from '../sessions/rights.ts'
import { useSession } from '../sessions/session.ts'
import { useUrlParams } from '../url-params.ts'

/** What can be done with a prompt. One that comes from a repository has its name from there, and is deleted there. */
export function PromptActions({ prompt }: { prompt: Prompt }) {
  const { data: session } = useSession()
  const key = session === undefined || isSignedOut(session) ? null : session.key
  return (
    <div className="prompt-actions">
      <Action opens="send">Send signals</Action>
      {key !== null && canEdit(key) && <Action opens="share">Share</Action>}
      {key?.role === 'admin' && prompt.path === null && (
        <>
          <Action opens="rename">Rename</Action>
          <Action opens="delete">Delete</Action>
        </>
      )}
    </div>
  )
}

/** The layout shows the dialog, which is in the URL. */
export function Action({ opens, children }: { opens: string; children: string }) {
  const [, setParams] = useUrlParams()
  return (
    <button type="button" className="text-button" onClick={() => setParams({ do: opens })}>
      {children}
    </button>
  )
}
