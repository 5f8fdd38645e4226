import { DomainError } from '../../domain/errors.ts'
import { liveAt as findLive, type LiveVersion } from '../../domain/impact/live/live.ts'
import { type LiveEnvironment, liveEnvironments } from '../../domain/impact/live/live-environments.ts'
import type { LiveWindow } from '../../domain/impact/live/live-window.ts'
import { periodOf } from '../../domain/impact/live/versions.ts'
import { isoTime, timeOrNull } from '../../domain/time.ts'
import { rounded, toChangeBody } from '../change.ts'
import { cursorSchema, textCursor, textOffset } from '../cursor.ts'
import { promptArgument, promptSchema, toPromptBody } from '../prompt.ts'
import { quoted, textPage } from '../quoting.ts'
import { defineTool, timeArgument } from '../tool.ts'

const maxTextLength = 12_000
const maxEnvironments = 5
const maxVersions = 5

export const liveAt = defineTool(
  {
    name: 'live_at',
    description:
      'Which version of a prompt was live in production at a time, from when until when, with its text. `also_live`: other versions that had a share of the traffic.',
    properties: {
      prompt: promptSchema,
      at: { type: 'string', description: 'Time, or date (start of the day, UTC). Default: now' },
      cursor: { ...cursorSchema, description: 'next_cursor of the previous result, for the rest of the text' },
    },
    required: ['prompt'],
  },
  async (context, args) => {
    const { store, texts, now } = context
    const prompt = await promptArgument(context, args.prompt)
    const at = timeArgument('at', args.at) ?? now
    const live = await findLive(store, prompt, at, now)
    if (live === null) {
      const earliest = await texts.earliestText(prompt, at)
      if (earliest === null) {
        throw new DomainError(
          'not_found',
          `No version was live at ${isoTime(at)}, before the first change of this prompt.`,
        )
      }
      // A shallow clone: the text is known, but not which change brought it.
      const page =
        earliest.text === null ? null : textPage(earliest.text, textOffset(args.cursor, unknownChange), maxTextLength)
      return {
        ...toPromptBody(prompt),
        at: isoTime(at),
        live: null,
        incomplete_history: true,
        text: earliest.state,
        quoted_text: page?.part ?? null,
        next_cursor: textCursor(unknownChange, page?.next ?? null),
      }
    }
    const { entry, others } = live
    const from = textOffset(args.cursor, entry.id)
    const { after, afterState } = await texts.contents(prompt.organisationId, entry)
    const page = after === null ? null : textPage(after, from, maxTextLength)
    const text = {
      text: afterState,
      quoted_text: page?.part ?? null,
      next_cursor: textCursor(entry.id, page?.next ?? null),
    }
    if (from > 0) return { change: entry.id, ...text }
    const [period, environments] = await Promise.all([
      periodOf(store, prompt, entry.id, now),
      liveEnvironments(store, prompt, at, now),
    ])
    const window = period?.windows.find((each) => each.from <= at && (each.until === null || at < each.until))
    return {
      ...toPromptBody(prompt),
      at: isoTime(at),
      live: { ...toVersionBody(live), ...(window !== undefined && toWindowBody(window)) },
      also_live: others.slice(0, maxVersions).map(toVersionBody),
      ...(environments.length > 0 && { environments: environments.slice(0, maxEnvironments).map(toEnvironmentBody) }),
      ...text,
    }
  },
)

// No change has this number.
const unknownChange = 999_999_999_999_999

function toVersionBody({ entry, share, source, environment }: LiveVersion) {
  return {
    ...toChangeBody(entry),
    share: rounded(share),
    known_by: source,
    ...(environment !== null && { quoted_environment: quoted(environment, 100) }),
  }
}

function toWindowBody({ from, until }: LiveWindow) {
  return { live_from: isoTime(from), live_until: timeOrNull(until) }
}

function toEnvironmentBody({ environment, production, since, versions }: LiveEnvironment) {
  return {
    quoted_environment: quoted(environment, 100),
    production,
    since: isoTime(since),
    versions: versions
      .slice(0, maxVersions)
      .map(({ entry, commitSha, share }) => ({ change: entry?.id ?? null, commit: commitSha, share: rounded(share) })),
  }
}
