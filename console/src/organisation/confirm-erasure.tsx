import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { countOf } from '../ui/number.ts'
import { UntrustedText } from '../ui/untrusted-text.tsx'

interface Props {
  /** What was entered, such as `Voter u-123`. */
  what: string
  organisationName: string
  matching: number
  mutation: { error: unknown; isPending: boolean }
  onConfirm: () => void
  onClose: () => void
}

export function ConfirmErasure({ what, organisationName, matching, mutation, onConfirm, onClose }: Props) {
  const signals = countOf(matching, 'signal')
  return (
    <ConfirmDialog
      title={`Erase ${signals}?`}
      confirmLabel={mutation.isPending ? 'Erasing…' : `Erase ${signals}`}
      mutation={mutation}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      <p className="erasure-what">
        <UntrustedText text={what} />
      </p>
      <ul className="plain-list">
        <li>
          {signals} of <UntrustedText text={organisationName} /> match now, in all prompts, deleted ones included.
        </li>
        <li>They disappear from lists, exports, charts and verdicts. This cannot be undone.</li>
        <li>They still count towards the monthly limit of their month.</li>
        <li>Existing backups still contain them.</li>
        <li>The audit log says that you erased them and how many, not whose they were.</li>
      </ul>
    </ConfirmDialog>
  )
}
