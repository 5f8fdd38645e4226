import { regressionQuerySchema } from '../../../../contract/regressions.ts'
import type { ListedRegression } from '../../domain/regressions/regression.ts'
import { suspectOf } from '../../domain/shifts/shift.ts'
import { day, isoTime, timeOrNull } from '../../domain/time.ts'
import { ownerOf, type Triaged } from '../../domain/triage.ts'
import { visiblePrompts } from '../../http/visible-prompts.ts'
import { rounded, toChangeBody, toShiftBody } from '../change.ts'
import { cursorAfter, cursorSchema, pageAt } from '../cursor.ts'
import { promptArgument, promptSchema, toPromptBody } from '../prompt.ts'
import { quoted } from '../quoting.ts'
import { defineTool } from '../tool.ts'

const perPage = 10
const maxUnexplained = 10
const unexplainedForMs = 31 * day

export const openRegressions = defineTool(
  {
    name: 'open_regressions',
    description:
      'Changes that made votes worse, of all prompts or one. Open ones come with the largest loss first, others with the newest first. A regression is repaired ' +
      'when the rate is back or the change is reverted, withdrawn when the votes no longer support it, dismissed when people accept it. ' +
      '`unexplained_falls` are recent losses that no single change explains, with the changes that may have caused them.',
    properties: {
      prompt: promptSchema,
      state: {
        type: 'string',
        enum: [...regressionQuerySchema.state.enum, 'all'],
        description: 'Default: open',
      },
      cursor: cursorSchema,
    },
    required: [],
  },
  async (context, { prompt: reference, state = 'open', cursor }) => {
    const { store, access } = context
    const { organisationId } = access
    const page = pageAt(cursor, perPage)
    const promptIds =
      reference === undefined
        ? await visiblePrompts(store.prompts, access)
        : [(await promptArgument(context, reference)).id]
    const { regressions, totalCount } = await store.regressions.page(
      organisationId,
      { state: state === 'all' ? null : state, promptIds },
      state === 'open' ? { by: 'difference', descending: false } : { by: 'opened_at', descending: true },
      page,
    )
    const ids = regressions.map(({ entryId }) => entryId)
    const messages = new Map(
      (await store.history.entries(organisationId, ids)).map(({ id, message }) => [id, message] as const),
    )
    const { shifts } =
      state === 'open' && page.page === '1'
        ? await store.shifts.page(
            organisationId,
            {
              ...{ promptIds, cause: 'unexplained', since: null, foundSince: context.now - unexplainedForMs },
              state: 'open',
            },
            { page: '1', limit: maxUnexplained },
          )
        : { shifts: [] }
    const falls = shifts.filter(({ rateBefore, rateAfter }) => rateAfter < rateBefore)
    return {
      total: totalCount,
      regressions: regressions.map((each) => toRegressionBody(each, messages.get(each.entryId) ?? null)),
      ...(falls.length > 0 && {
        unexplained_falls: falls.map((shift) => ({
          ...toPromptBody(shift.prompt),
          id: shift.id,
          ...toShiftBody(shift),
          ...toTriagedBody(shift, ownerOf({ ...shift, change: suspectOf(shift) })),
        })),
      }),
      next_cursor: cursorAfter(page, totalCount),
    }
  },
)

function toTriagedBody({ acknowledgedAt, snoozedUntil }: Triaged, owner: string | null) {
  return {
    quoted_owner: quoted(owner ?? '', 200) || null,
    ...(acknowledgedAt !== null && { acknowledged_at: isoTime(acknowledgedAt) }),
    ...(snoozedUntil !== null && { snoozed_until: isoTime(snoozedUntil) }),
  }
}

function toRegressionBody(regression: ListedRegression, message: string | null) {
  const { state, repairedAt, repairedBy, repairedEntry, withdrawnAt, dismissedAt, note } = regression
  return {
    ...toPromptBody(regression.prompt),
    state,
    ...toChangeBody({ ...regression.change, message }),
    opened_at: isoTime(regression.openedAt),
    live_from: timeOrNull(regression.liveFrom),
    rate_before: rounded(regression.rateBefore),
    rate_after: rounded(regression.rateAfter),
    votes_before: regression.signalsBefore,
    votes_after: regression.signalsAfter,
    difference: rounded(regression.difference),
    interval: regression.interval.map(rounded),
    explanation: regression.explanation,
    ...toTriagedBody(regression, ownerOf(regression)),
    ...(state === 'repaired' && {
      repaired_at: timeOrNull(repairedAt),
      repaired_by: repairedBy,
      repaired_change: repairedEntry && toChangeBody(repairedEntry),
    }),
    ...(state === 'withdrawn' && { withdrawn_at: timeOrNull(withdrawnAt) }),
    ...(state === 'dismissed' && {
      dismissed_at: timeOrNull(dismissedAt),
      quoted_note: note && quoted(note, 500),
    }),
  }
}
