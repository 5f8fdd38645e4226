import type { Prompt } from '@promptledger/client'
import { Link } from 'wouter'
import { promptPath } from '../prompt/prompt-path.ts'
import { CopyableId, CopyButton } from '../ui/copy-button.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'

const sections = {
  Overview: '',
  Text: '/text',
  Compare: '/compare',
  Signals: '/signals',
} as const

export type Section = keyof typeof sections

interface Props {
  prompt: Pick<Prompt, 'id' | 'name' | 'path'>
  /** The section of the current page. */
  section: Section
}

/** The head of every page of a prompt: its name and ID to copy, its file and the links to its sections. */
export function PromptHead({ prompt: { id, name, path }, section }: Props) {
  return (
    <header className="prompt-head">
      <nav className="breadcrumbs" aria-label="Breadcrumbs">
        <Link href="/prompts">Prompts</Link>
      </nav>
      <div className="prompt-head-title">
        <div className="prompt-head-name">
          <h1>
            <UntrustedText text={name} />
          </h1>
          <CopyButton value={name} label="Copy the prompt name" />
        </div>
        <div className="prompt-head-ids muted">
          <CopyableId id={id} what="prompt ID" />
          {path !== null && path !== name && (
            <span className="path">
              <UntrustedText text={path} />
            </span>
          )}
        </div>
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
