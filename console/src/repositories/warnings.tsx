import { Notice } from '../ui/notice.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'

/** Probable mistakes in a repository that was connected or changed. */
export function Warnings({ warnings }: { warnings: string[] }) {
  return warnings.map((warning) => (
    <Notice key={warning} tone="caution">
      <UntrustedText text={warning} />
    </Notice>
  ))
}
