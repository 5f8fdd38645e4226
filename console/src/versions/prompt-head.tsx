import type { Prompt } from '@promptledger/client'
import { Link } from 'wouter'
import { promptPath } from '../prompt/prompt-path.ts'
import { isSignedOut } from '../sessions/ended-session.ts'
import { canEdit } from '../sessions/rights.ts'
import { useSession } from '../sessions/session.ts'
import { CopyableId, CopyButton } from '../ui/copy-button.tsx'
import { PromptName } from '../ui/prompt-name.tsx'
import { useUrlParams } from '../url-params.ts'

const sections = {
  Overview: '',
  Text: '/text',
  Compare: '/compare',
  Signals: '/signals',
} as const

type Section = keyof typeof sections

interface Props {
  /** The prompt, or the fields that are known while it loads. */
  prompt: Prompt | Pick<Prompt, 'id' | 'name' | 'path'>
  /** The section of the current page. */
  section: Section
}

/** The head of every page of a prompt: its name and ID to copy, its file and the links to its sections. */
export function PromptHead({ prompt, section }: Props) {
  const { id, name, path } = prompt
  return (
    <header className="prompt-head">
      <nav className="breadcrumbs" aria-label="Breadcrumbs">
        <Link href="/prompts">Prompts</Link>
      </nav>
      <div className="prompt-head-title">
        <div className="prompt-head-name">
          <h1>
            <PromptName name={name} />
          </h1>
          <CopyButton value={name} label="Copy the prompt name" />
        </div>
        <div className="prompt-head-ids muted">
          <CopyableId id={id} what="prompt ID" />
          {path !== null && path !== name && (
            <span className="path">
              <PromptName name={path} />
            </span>
          )}
        </div>
        {'last_change' in prompt && <PromptActions prompt={prompt} />}
      </div>
      <nav className="section-links" aria-label="Sections of this prompt">
        {(Object.keys(sections) as Section[]).map((label) => (
          <Link
            key={label}
            href={`${promptPath(id)}${sections[label]}`}
            aria-current={label === section ? 'page' : undefined}
          >
            {label}
          </Link>
        ))}
      </nav>
    </header>
  )
}

/** What can be done with a prompt. One that comes from a repository has its name from there, and is deleted there. */
function PromptActions({ prompt }: { prompt: Prompt }) {
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
