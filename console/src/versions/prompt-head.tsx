import type { Prompt } from '@promptledger/client'
import { Link } from 'wouter'
import { promptPath } from '../prompt/prompt-path.ts'
import { CopyableId, CopyButton } from '../ui/copy-button.tsx'
import { PromptName } from '../ui/prompt-name.tsx'
import { PromptActions } from './prompt-actions.tsx'

const sections = {
  Overview: '',
  Text: '/text',
  Compare: '/compare',
  Signals: '/signals',
} as const

export type Section = keyof typeof sections

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
