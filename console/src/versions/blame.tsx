import type { Blame as BlameData, BlamedLines, BlameState } from '@promptledger/client'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { titleOf } from '../prompt/entry-title.ts'
import { changePath } from '../prompt/prompt-path.ts'
import { ExternalLink } from '../ui/external-link.tsx'
import { LoadError, Loading } from '../ui/load-state.tsx'
import { Notice } from '../ui/notice.tsx'
import { Time } from '../ui/time.tsx'
import { UntrustedText, visibleText } from '../ui/untrusted-text.tsx'
import { NumberedLines } from './numbered-lines.tsx'
import type { TextLine } from './text-lines.ts'
import { TextView } from './text-view.tsx'
import { useBlame } from './version-queries.ts'

const reasons: Record<Exclude<BlameState, 'available'>, string> = {
  absent: 'The change deleted the file, so there are no lines to blame.',
  too_large: 'The text is too large for blame: it has over 1 MiB or 20,000 lines, or git takes too long.',
  binary: 'The file is not a text, so it has no lines to blame.',
  not_landed: 'Blame needs a version on the default branch, and this change is not on it.',
  unavailable:
    'Git cannot say who wrote these lines: the repository no longer has the commit, or the change was not read from git.',
}

interface Props {
  promptId: string
  entryId: number
  /** The plain text, where git cannot say who wrote it. */
  children: ReactNode
}

/** The text of a version, with the change that wrote each line last. */
export function Blame({ promptId, entryId, children }: Props) {
  const blame = useBlame(promptId, entryId)
  if (blame.isPending) return <Loading what="who wrote each line" />
  if (blame.isError) {
    return (
      <>
        <LoadError error={blame.error} retry={blame.refetch} />
        {children}
      </>
    )
  }
  const { state, content } = blame.data
  if (state !== 'available' || content === null) {
    return (
      <>
        <Notice>{reasons[state === 'available' ? 'unavailable' : state]}</Notice>
        {children}
      </>
    )
  }
  return <BlamedText promptId={promptId} text={content} blame={blame.data} />
}

interface TextProps {
  promptId: string
  text: string
  blame: BlameData
}

function BlamedText({ promptId, text, blame }: TextProps) {
  const entries = new Map(blame.entries.map((item) => [item.entry.id, item]))
  return (
    <TextView text={text}>
      {(lines, selected) =>
        blamedGroups(lines, blame.lines).map(({ range, lines: blamed }) => (
          <div key={range.start} className="blame-group">
            <div className="blame-change">
              <Change
                promptId={promptId}
                item={range.entry_id === null ? undefined : entries.get(range.entry_id)}
                sha={range.commit_sha}
              />
            </div>
            <div className="blame-lines">
              <NumberedLines lines={blamed} selected={selected} />
            </div>
          </div>
        ))
      }
    </TextView>
  )
}

interface ChangeProps {
  promptId: string
  item: BlameData['entries'][number] | undefined
  sha: string
}

/** Who wrote the lines, when and by which pull request. The date leads to the change. */
function Change({ promptId, item, sha }: ChangeProps) {
  if (item === undefined) {
    return (
      <span title="No entry of the history has this commit: it is older than the known history.">
        <code>{sha.slice(0, 7)}</code> before the known history
      </span>
    )
  }
  const { entry, message } = item
  const title = visibleText(titleOf(entry, message))
  return (
    <>
      <Link href={changePath(promptId, entry.id)} title={title}>
        <Time at={entry.created_at} as="date" />
        <span className="visually-hidden">: {title}</span>
      </Link>
      <span className="blame-author" title={visibleText(entry.user.email)}>
        <UntrustedText text={entry.user.name} />
      </span>
      {entry.pr_url !== null && <ExternalLink to={entry.pr_url}>#{entry.pr_number}</ExternalLink>}
    </>
  )
}

interface BlamedGroup {
  range: BlamedLines
  lines: TextLine[]
}

/** The shown lines by the range that they belong to. Both are in order, and ranges have no gaps. */
function blamedGroups(lines: TextLine[], ranges: BlamedLines[]): BlamedGroup[] {
  const groups: BlamedGroup[] = []
  let at = 0
  for (const line of lines) {
    while (at < ranges.length - 1 && (ranges[at]?.end ?? 0) < line.number) at++
    const range = ranges[at]
    if (range === undefined) break
    const last = groups.at(-1)
    if (last?.range === range) last.lines.push(line)
    else groups.push({ range, lines: [line] })
  }
  return groups
}
