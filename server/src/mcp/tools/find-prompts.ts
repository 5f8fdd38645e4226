import { rated } from '../../domain/impact/impact.ts'
import { type Overview, overviewStart, overviewsOf } from '../../domain/impact/overview.ts'
import type { PromptOrder } from '../../domain/prompt.ts'
import { noVerdict, rounded, toChangeBody, toVotesBody } from '../change.ts'
import { cursorAfter, cursorSchema, pageAt } from '../cursor.ts'
import { toPromptBody } from '../prompt.ts'
import { defineTool } from '../tool.ts'

const perPage = 20

const orders = {
  name: { by: 'name', descending: false },
  newest_change: { by: 'last_change', descending: true },
  most_votes: { by: 'signals', descending: true },
  lowest_rate: { by: 'positive_share', descending: false },
  worst_effect: { by: 'effect', descending: false },
} as const satisfies Record<string, Omit<PromptOrder, 'since'>>

export const findPrompts = defineTool(
  {
    name: 'find_prompts',
    description:
      'List or search prompts, each with its last live change, the verdict on it, its votes of the last 30 days and its open regression.',
    properties: {
      query: { type: 'string', description: 'Part of the name or file path' },
      sort: { type: 'string', enum: ['name', 'newest_change', 'most_votes', 'lowest_rate', 'worst_effect'] },
      cursor: cursorSchema,
    },
    required: [],
  },
  async ({ store, learned, access, now }, { query = '', sort = 'name', cursor }) => {
    const page = pageAt(cursor, perPage)
    const { prompts, totalCount } = await store.prompts.page(
      access.organisationId,
      { search: query, glob: access.prompts },
      { ...orders[sort], since: overviewStart(now) },
      page,
    )
    const overviews = await overviewsOf(store, learned, prompts, now)
    // The message of a change is not part of an overview.
    const ids = overviews.flatMap(({ lastChange }) => (lastChange === null ? [] : [lastChange.entry.id]))
    const entries = new Map(
      (await store.history.entries(access.organisationId, ids)).map((entry) => [entry.id, entry] as const),
    )
    return {
      total: totalCount,
      prompts: overviews.map((overview) => toOverviewBody(overview, entries)),
      next_cursor: cursorAfter(page, totalCount),
    }
  },
)

function toOverviewBody(
  { prompt, lastChange, signals, regression }: Overview,
  entries: ReadonlyMap<number, { message: string | null }>,
) {
  return {
    ...toPromptBody(prompt),
    last_change: lastChange && {
      ...toChangeBody({ ...lastChange.entry, message: entries.get(lastChange.entry.id)?.message ?? null }),
      verdict: lastChange.isFirst ? noVerdict : lastChange.verdict,
    },
    votes_30_days: toVotesBody(rated(signals)),
    open_regression: regression && { change: regression.entryId, difference: rounded(regression.difference) },
  }
}
