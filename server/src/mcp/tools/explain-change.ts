import { invalid } from '../../domain/errors.ts'
import type { Impact } from '../../domain/impact/impact.ts'
import { rated } from '../../domain/impact/impact.ts'
import { now as atNow } from '../../domain/impact/live/moment.ts'
import type { SegmentedImpact } from '../../domain/impact/segment-impact.ts'
import { timelineEntryOf } from '../../domain/impact/timeline.ts'
import type { Prompt } from '../../domain/prompt.ts'
import type { Regression } from '../../domain/regressions/regression.ts'
import { timeOrNull } from '../../domain/time.ts'
import { withTrials } from '../../domain/trials/change-trials.ts'
import { changeArgument, changeSchema, rounded, toChangeBody, toEffectBody, toVotesBody } from '../change.ts'
import { cursorSchema, textCursor, textOffset } from '../cursor.ts'
import { promptSchema, toPromptBody } from '../prompt.ts'
import { quoted, textPage } from '../quoting.ts'
import { ChoiceError, defineTool, type ToolContext } from '../tool.ts'

const maxMessageLength = 2_000
const maxPatchLength = 8_000

export const explainChange = defineTool(
  {
    name: 'explain_change',
    description:
      'One change: who wrote it and why, its diff, and whether votes got better or worse with it. `explanation` says what the verdict rests on; do not claim more. ' +
      'For the comments behind it, use read_feedback with the change.',
    properties: {
      change: changeSchema,
      prompt: promptSchema,
      by: { type: 'string', description: 'Also split the effect by this key of vote metadata, such as model' },
      cursor: { ...cursorSchema, description: 'next_cursor of the previous result, for the rest of the diff' },
    },
    required: ['change'],
  },
  async (context, args) => {
    const { store, learned, texts, now } = context
    const { prompt, entry } = await changeArgument(context, args.change, args.prompt)
    const from = textOffset(args.cursor, entry.id)
    const { patch, beforeState, afterState } = await texts.contents(prompt.organisationId, entry)
    const page = patch === null ? null : textPage(patch, from, maxPatchLength)
    const diff = {
      quoted_diff: page?.part ?? null,
      ...(page === null && { texts: { before: beforeState, after: afterState } }),
      next_cursor: textCursor(entry.id, page?.next ?? null),
    }
    if (from > 0) return { change: entry.id, ...diff }
    const by = args.by === undefined ? null : await declaredKey(context, prompt, args.by)
    const found = await timelineEntryOf(store, prompt, entry.id, atNow(now), await learned.of(prompt), by)
    const [impact = null] = found?.impact ? await withTrials(store, context.access, prompt, [found.impact]) : []
    const regression = (await store.regressions.ofPrompt(prompt)).find(({ entryId }) => entryId === entry.id)
    return {
      ...toPromptBody(prompt),
      ...toChangeBody(entry),
      quoted_email: quoted(entry.user.email, 200),
      quoted_actor: entry.actor && quoted(entry.actor, 100),
      quoted_branch: quoted(entry.branchName, 200),
      quoted_url: entry.prUrl && quoted(entry.prUrl, 500),
      quoted_message: entry.message && quoted(entry.message, maxMessageLength),
      effect: impact && toExplainedBody(impact),
      ...(by !== null && { segments: impact?.segments ? toSegmentsBody(impact.segments) : null }),
      regression: regression === undefined ? null : toRegressionBody(regression),
      ...diff,
    }
  },
)

async function declaredKey({ store }: ToolContext, prompt: Prompt, key: string): Promise<string> {
  const { keys } = await store.segments.ofPrompt(prompt)
  const name = key.replace(/^metadata\./, '')
  if (keys.includes(name)) return name
  if (keys.length === 0) throw invalid('by cannot be used: no keys of the metadata are declared for this prompt')
  const declared = keys.map((each) => ({ quoted_key: quoted(each, 100) }))
  throw new ChoiceError('by must be one of the declared keys.', { keys: declared })
}

function toExplainedBody(impact: Impact) {
  return { ...toEffectBody(impact), effective_votes: impact.effectiveSignals, explanation: impact.explanation }
}

function toSegmentsBody({ segments, isComplete }: SegmentedImpact) {
  return {
    complete: isComplete,
    values: segments.map(({ value, isOther, before, after, difference, verdict }) => ({
      quoted_value: value === null ? null : quoted(value, 100),
      ...(isOther && { all_others: true }),
      before: toVotesBody(rated(before)),
      after: toVotesBody(rated(after)),
      difference: difference === null ? null : rounded(difference.difference),
      verdict,
    })),
  }
}

function toRegressionBody({ state, repairedBy, repairedAt, repairedEntryId, note }: Regression) {
  return {
    state,
    ...(state === 'repaired' && {
      repaired_by: repairedBy,
      repaired_at: timeOrNull(repairedAt),
      repaired_change: repairedEntryId,
    }),
    ...(note !== null && { quoted_note: quoted(note, 500) }),
  }
}
