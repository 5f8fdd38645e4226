import type { Prompt, PromptStore } from '../../domain/prompt.ts'
import type { Database, Row } from './database.ts'
import { columns as entryColumns, toEntry, wentLive } from './history.ts'

export function promptOverviews(database: Database): PromptStore['overviews'] {
  // A cross join, since SQLite then takes the prompts first and looks each newest entry up, whatever it thinks is cheaper.
  const lastChanges = `select prompt_id, ${entryColumns}
    from ${database.records([{ name: 'asked', type: 'bigint' }])} cross join history_entries
    where organisation_id = ? and id = (
      select newest.id from history_entries as newest where organisation_id = ? and prompt_id = asked and ${wentLive}
      order by created_at desc, id desc limit 1)`
  const sums = `select prompt_id, sum(positive) as positive, sum(negative) as negative from signal_hours
    where organisation_id = ? and ${database.among('prompt_id', 'bigint')} and hour >= ? group by prompt_id`

  return async (prompts, since) => {
    const [first] = prompts
    if (first === undefined) return []
    const { organisationId } = first
    const ids = prompts.map(({ id }) => id)
    const records = ids.map((id) => ({ asked: id }))
    const [changes, tallies] = await Promise.all([
      database.rows(lastChanges, [JSON.stringify(records), organisationId, organisationId]),
      database.rows(sums, [organisationId, JSON.stringify(ids), since]),
    ])
    const [changeOf, tallyOf] = [byPrompt(changes), byPrompt(tallies)]
    return prompts.map((prompt) => {
      const [change, tally] = [changeOf.get(prompt.id), tallyOf.get(prompt.id)]
      return {
        ...prompt,
        lastChange: change === undefined ? null : toEntry(change),
        signals: { positive: (tally?.positive ?? 0) as number, negative: (tally?.negative ?? 0) as number },
      }
    })
  }
}

function byPrompt(rows: Row[]): Map<Prompt['id'], Row> {
  return new Map(rows.map((row) => [row.prompt_id as number, row]))
}
