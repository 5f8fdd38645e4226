import { nameTaken } from '../../domain/prompt.ts'
import { type Database, type Statement, statement } from './database.ts'

/**
 * Names of prompts are unique within an organisation. Only prompts from before that rule may share one. Transactions that assign
 * names lock the organisation first, so that a name that they find free stays free; the unique index is for mistakes in that.
 */
const sameName = 'organisation_id = ? and deleted_at is null'

/** A condition on a name or path, which takes the text as two parameters. */
export function isText(database: Database, column: string): string {
  return `${database.textKey(column)} = ${database.textKey('cast(? as text)')} and ${column} = ?`
}

/** Throws if another prompt has the name. A prompt from before the rule may keep the one that it has. */
export function requireFreeName(
  database: Database,
  organisationId: number,
  name: string,
  promptId: number | null = null,
): Statement {
  const id = promptId ?? 0
  return {
    ...statement(
      `select public_id from prompts where ${sameName} and ${isText(database, 'name')} and id <> ?
         and not exists (select 1 from prompts as renamed where organisation_id = ? and id = ? and name = ?)
       order by id limit 1`,
      [organisationId, name, name, id, organisationId, id, name],
    ),
    andThen([taken]) {
      if (taken !== undefined) throw nameTaken(taken.public_id as string)
      return []
    },
  }
}

/**
 * Gives each item of `wanted` the first of its names that no prompt has, or the last one, which must be free by design, and
 * runs the statements that `store` makes of the names.
 */
export function assignNames(
  database: Database,
  organisationId: number,
  wanted: string[][],
  store: (names: string[]) => Statement[],
): Statement {
  const keys = `(select ${database.textKey('name')} from ${database.jsonRecords({ name: 'text' })})`
  return {
    ...statement(`select name from prompts where ${sameName} and ${database.textKey('name')} in ${keys}`, [
      organisationId,
      JSON.stringify([...new Set(wanted.flat())].map((name) => ({ name }))),
    ]),
    andThen(rows) {
      const taken = new Set(rows.map(({ name }) => name as string))
      const names = wanted.map((options) => {
        const name = options.find((option) => !taken.has(option)) ?? (options.at(-1) as string)
        taken.add(name)
        return name
      })
      return store(names)
    },
  }
}
