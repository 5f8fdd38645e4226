import { useState } from 'react'
import { CodeBlock } from '../ui/code-block.tsx'
import { ToggleGroup } from '../ui/toggle-group.tsx'
import { type Language, snippets } from './snippets.ts'

interface Props {
  promptId: string
  /** The commit of the live version; null for a prompt without history. */
  version: string | null
  /** Null if no key was created here. */
  secret: string | null
}

const languages = (Object.keys(snippets) as Language[]).map((name) => ({ value: name, label: name }))

/** How to send a signal of a prompt, in one of several languages. */
export function SnippetChoice({ promptId, version, secret }: Props) {
  const [language, setLanguage] = useState<Language>('curl')
  const code = snippets[language]({ url: window.location.origin, key: secret ?? 'YOUR_KEY', promptId, version })
  return (
    <>
      <ToggleGroup
        label="Language"
        options={languages}
        isSelected={(name) => name === language}
        onSelect={setLanguage}
      />
      <CodeBlock code={code} what={`${language} snippet`} />
      <p className="muted">
        {secret === null && 'Replace YOUR_KEY with your key. '}
        {version === null ? (
          <>
            Once the prompt has a history, also send <code>version</code>: the commit that your application runs, so
            that late votes count for the right change.
          </>
        ) : (
          <>
            <code>version</code> is the commit that your application runs, here the live one: with it, late votes count
            for the right change, and verdicts are quicker.
          </>
        )}{' '}
        <code>subject</code> is your ID of the answer: a second vote on it replaces the first.
      </p>
    </>
  )
}
