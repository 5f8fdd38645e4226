import { invalidField } from '../errors.ts'
import { folded, isLongerThan } from '../text.ts'
import type { Instant } from '../time.ts'
import { canonicalJson, hasMembers } from './json-text.ts'
import type { VersionText } from './version.ts'

/** What a signal must contain. No sums exist for this, so it is searched. */
export interface ContentFilter {
  /** Only signals with a comment can match. */
  needsComment: boolean
  /** A substring of all matching metadata without a backslash. Null if metadata does not matter. */
  metadataPrefilter: string | null
  matches(signal: SignalContent): boolean
}

interface SignalContent {
  comment: string | null
  metadata: string | null
  version: VersionText | null
  occurredAt: Instant
}

interface ContentQuery {
  hasComment: boolean
  /** Part of the comment, ignoring case and Unicode normalisation. */
  commentPart: string | null
  /** The name and value of members that the metadata must have. */
  members: [string, string][]
}

const maxCommentPart = 200
const maxMembers = 16
// What a query cannot tell from a string: 5 may be a number, true a boolean.
const scalar = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/

/** Null if the query asks for nothing. */
export function contentFilter({ hasComment, commentPart, members }: ContentQuery): ContentFilter | null {
  if (!hasComment && commentPart === null && members.length === 0) return null
  if (commentPart !== null && isLongerThan(commentPart, maxCommentPart)) {
    throw invalidField('q', `must be at most ${maxCommentPart} characters long`)
  }
  if (members.length > maxMembers) throw invalidField('metadata', `must have at most ${maxMembers} members in a filter`)
  const part = commentPart === null ? null : folded(commentPart)
  const wanted = new Map(members.map(([name, text]) => [name, valuesOf(text)]))
  return {
    needsComment: hasComment || part !== null,
    metadataPrefilter: members.length === 0 ? null : prefilterOf(members),
    matches({ comment, metadata }) {
      if (comment === null && (hasComment || part !== null)) return false
      if (part !== null && !folded(comment as string).includes(part)) return false
      return wanted.size === 0 || (metadata !== null && hasMembers(metadata, wanted))
    },
  }
}

/** The canonical JSON values that the text of a query stands for. */
function valuesOf(text: string): Set<string> {
  return new Set([canonicalJson(JSON.stringify(text)), ...(scalar.test(text) ? [canonicalJson(text)] : [])])
}

/** The longest value, or the longest name if a number could be written in another way than in the query. */
function prefilterOf(members: [string, string][]): string {
  const values = members.map(([, text]) => text).filter((text) => text !== '' && !scalar.test(text))
  const texts = values.length > 0 ? values : members.map(([name]) => name)
  const [longest = ''] = texts.toSorted((a, b) => b.length - a.length)
  return JSON.stringify(longest).slice(1, -1)
}
