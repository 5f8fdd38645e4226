import { now as atNow } from '../../domain/impact/live/moment.ts'
import { type TimelineEntry, timelineOf } from '../../domain/impact/timeline.ts'
import { toChangeBody, toEffectBody, toShiftBody } from '../change.ts'
import { cursorAfter, cursorSchema, pageAt } from '../cursor.ts'
import { promptArgument, promptSchema, toPromptBody } from '../prompt.ts'
import { defineTool, timeRange } from '../tool.ts'

const perPage = 20
const maxShifts = 16

export const whatHappened = defineTool(
  {
    name: 'what_happened',
    description:
      'The changes of a prompt, newest first: author, pull request, when live, and the effect on votes. One row per pull request; open and rejected ones ' +
      'included, without an effect. `shifts` are moments when the share of positive votes moved, with the change that caused it, if one did, or the ones that may have.',
    properties: {
      prompt: promptSchema,
      since: { type: 'string', description: 'Time or date (start of the day, UTC)' },
      until: { type: 'string', description: 'The same, exclusive' },
      cursor: cursorSchema,
    },
    required: ['prompt'],
  },
  async (context, args) => {
    const { store, learned, now } = context
    const prompt = await promptArgument(context, args.prompt)
    const { since, until } = timeRange(args)
    const page = pageAt(args.cursor, perPage)
    const [timeline, { shifts }] = await Promise.all([
      timelineOf(
        store,
        prompt,
        { actions: null, since, until, pulls: 'outcome' },
        page,
        atNow(now),
        await learned.of(prompt),
      ),
      store.shifts.page(
        prompt.organisationId,
        { promptIds: [prompt.id], cause: null, since, foundSince: null },
        { page: '1', limit: maxShifts },
      ),
    ])
    return {
      ...toPromptBody(prompt),
      total: timeline.totalCount,
      changes: timeline.entries.map(toRow),
      // They belong to the whole period, not to a page.
      ...(page.page === '1' && {
        shifts: shifts.filter(({ at }) => until === null || at < until).map(toShiftBody),
      }),
      next_cursor: cursorAfter(page, timeline.totalCount),
    }
  },
)

function toRow({ entry, impact }: TimelineEntry) {
  return { ...toChangeBody(entry), effect: impact && toEffectBody(impact) }
}
