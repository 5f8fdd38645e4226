import type { SweepStore } from '../../domain/regressions/sweep.ts'
import { type Database, statement } from './database.ts'
import { promptColumns, toPrompt } from './prompts.ts'

export function sqlSweep(database: Database): SweepStore {
  return {
    async claim(owner, now, until) {
      const [rows = []] = await database.write([
        statement(
          `update sweep set lease_owner = ?, lease_until = ?
           where due_at <= ? and (lease_owner is null or lease_until <= ?) returning id`,
          [owner, until, now, now],
        ),
      ])
      return rows.length > 0
    },

    async renew(owner, until) {
      const [rows = []] = await database.write([
        statement('update sweep set lease_until = ? where lease_owner = ? returning id', [until, owner]),
      ])
      return rows.length > 0
    },

    async finish(owner, dueAt) {
      await database.write([
        statement('update sweep set due_at = ?, lease_owner = null, lease_until = null where lease_owner = ?', [
          dueAt,
          owner,
        ]),
      ])
    },

    async votedPrompts(since, after, limit) {
      const rows = await database.rows(
        `select ${promptColumns}, deleted_at, exists (select 1 from signal_hours h
           where h.organisation_id = p.organisation_id and h.prompt_id = p.id and h.hour >= ?) as voted
         from prompts p where id > ? order by id limit ?`,
        [since, after, limit],
      )
      const voted = rows.filter((row) => row.deleted_at === null && Boolean(row.voted))
      return { prompts: voted.map(toPrompt), last: rows.length < limit ? null : (rows.at(-1)?.id as number) }
    },
  }
}
