import { Fragment } from 'react'
import { UntrustedText } from '../ui/untrusted-text.tsx'

/** Lets a long URL wrap after its slashes. */
export function RepositoryUrl({ url }: { url: string }) {
  return url.split('/').map((part, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts have no other identity, and their order is fixed.
    <Fragment key={i}>
      {i > 0 && (
        <>
          /<wbr />
        </>
      )}
      <UntrustedText text={part} />
    </Fragment>
  ))
}
