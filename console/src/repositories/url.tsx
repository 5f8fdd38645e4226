import { Fragment } from 'react'

/** The address of a repository, which breaks at its slashes where it is too long for a line. */
export function Url({ url }: { url: string }) {
  return url.split('/').map((part, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts have no other name, and never move.
    <Fragment key={i}>
      {i > 0 && (
        <>
          /<wbr />
        </>
      )}
      {part}
    </Fragment>
  ))
}
