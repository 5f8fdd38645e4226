import { UntrustedText, visibleText } from './untrusted-text.tsx'

const maxNameLength = 44
const maxFolderLength = 36
// Other names may have slashes too, and would not read well in another order.
const path = /^[^\s<>"]+\/[^\s<>"/]+$/

/** The name of a prompt, which is often the path of its file. A long one starts with the file, and its folder is shortened in the middle. */
export function PromptName({ name }: { name: string }) {
  const slash = name.lastIndexOf('/')
  if (name.length <= maxNameLength || !path.test(name)) return <UntrustedText text={name} />
  return (
    <span title={visibleText(name)}>
      <UntrustedText text={name.slice(slash + 1)} />{' '}
      <span className="prompt-folder">
        <UntrustedText text={shortened(name.slice(0, slash))} />
      </span>
    </span>
  )
}

function shortened(folder: string): string {
  // By character: half of one would be shown as a mark.
  const characters = [...folder]
  if (characters.length <= maxFolderLength) return folder
  const half = Math.floor(maxFolderLength / 2)
  return `${characters.slice(0, half).join('')}…${characters.slice(-half).join('')}`
}
