import { Notice } from '../ui/notice.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'

/** What is probably a mistake about a repository that was connected or changed. */
export function Warnings({ warnings }: { warnings: string[] }) {
  return warnings.map((warning) => (
    <Notice key={warning} tone="caution">
      <UntrustedText text={warning} />
    </Notice>
  ))
}
