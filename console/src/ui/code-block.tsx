import { CopyButton } from './copy-button.tsx'

interface Props {
  code: string
  /** The copied item, such as `command`. */
  what: string
}

/** Code or a command, with a button that copies it. */
export function CodeBlock({ code, what }: Props) {
  return (
    <div className="code-block">
      <pre>
        <code>{code}</code>
      </pre>
      <CopyButton value={code} label={`Copy the ${what}`} />
    </div>
  )
}
