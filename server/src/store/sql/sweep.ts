import type { SweepStore } from '../../domain/regressions/sweep.ts'
import { type Database, statement } from './database.ts'
import { toPrompt } from './prompts.ts'

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
        `select id, public_id, organisation_id, name, created_at, repository_id, path from prompts
         where id > ? and deleted_at is null and exists (
           select 1 from signal_hours where organisation_id = prompts.organisation_id and prompt_id = prompts.id and hour >= ?)
         order by id limit ?`,
        [after, since, limit],
      )
      return rows.map(toPrompt)
    },
  }
}
