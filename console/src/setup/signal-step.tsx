import { useState } from 'react'
import { CodeBlock } from '../ui/code-block.tsx'
import { ToggleGroup } from '../ui/toggle-group.tsx'
import { FirstSignal } from './first-signal.tsx'
import { type Language, snippets } from './snippets.ts'

interface Props {
  promptId: string | null
  secret: string | null
  /** Whether the organisation has signals. */
  isReceived: boolean
}

const languages = (Object.keys(snippets) as Language[]).map((name) => ({ value: name, label: name }))

export function SignalStep({ promptId, secret, isReceived }: Props) {
  const [language, setLanguage] = useState<Language>('curl')
  if (promptId === null) return <p className="muted">Choose a prompt first.</p>
  const code = snippets[language]({ url: window.location.origin, key: secret ?? 'YOUR_KEY', promptId })
  return (
    <>
      <ToggleGroup
        label="Language"
        options={languages}
        isSelected={(name) => name === language}
        onSelect={setLanguage}
      />
      <CodeBlock code={code} what={`${language} snippet`} />
      {secret === null && <p className="muted">Replace YOUR_KEY with your key.</p>}
      <FirstSignal key={promptId} promptId={promptId} isReceived={isReceived} />
    </>
  )
}
