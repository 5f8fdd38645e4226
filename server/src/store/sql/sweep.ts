import type { SweepStore } from '../../domain/regressions/sweep.ts'
import { type Database, writeRows } from './database.ts'
import { promptColumns, toPrompt } from './prompts.ts'

// Not `exists`: for that, PostgreSQL reads the sums of all prompts, for each page.
const votedByPrompt = `
select ${promptColumns}, deleted_at, (select 1 from hour_sums h
  where h.organisation_id = p.organisation_id and h.prompt_id = p.id and h.hour >= ? limit 1) is not null as voted
from prompts p where id > ? order by id limit ?`

// Citus does not look into another table for each row. It sends the prompts to the workers instead.
const votedInShards = `
with since as (select ?::bigint as hour),
page as (select ${promptColumns}, deleted_at from prompts where id > ? order by id limit ?),
voted as (
  select distinct organisation_id, prompt_id from hour_sums
  where hour >= (select hour from since) and (organisation_id, prompt_id) in (select organisation_id, id from page))
select page.*, voted.prompt_id is not null as voted
from page left join voted on voted.organisation_id = page.organisation_id and voted.prompt_id = page.id order by page.id`

export function sqlSweep(database: Database): SweepStore {
  return {
    async claim(owner, now, until) {
      const rows = await writeRows(
        database,
        `update sweep set lease_owner = ?, lease_until = ?
         where due_at <= ? and (lease_owner is null or lease_until <= ?) returning id`,
        [owner, until, now, now],
      )
      return rows.length > 0
    },

    async renew(owner, until) {
      const rows = await writeRows(database, 'update sweep set lease_until = ? where lease_owner = ? returning id', [
        until,
        owner,
      ])
      return rows.length > 0
    },

    async finish(owner, dueAt) {
      await writeRows(
        database,
        'update sweep set due_at = ?, lease_owner = null, lease_until = null where lease_owner = ?',
        [dueAt, owner],
      )
    },

    async claimQueued(now, until, limit) {
      const isFree = 'claimed_until <= ?'
      // The queue is empty most of the time, and then nothing is written.
      const free = await database.rows(`select 1 from judge_queue where ${isFree} limit 1`, [now])
      if (free.length === 0) return []
      // The condition is repeated, because another process may have claimed the same rows meanwhile.
      const rows = await writeRows(
        database,
        `update judge_queue set claimed_until = ? where ${isFree} and (organisation_id, prompt_id) in (
           select organisation_id, prompt_id from (
             select organisation_id, prompt_id, row_number() over (partition by organisation_id order by prompt_id) as turn
             from judge_queue where ${isFree}) as free
           order by turn, organisation_id limit ?)
         returning organisation_id, prompt_id`,
        [until, now, now, limit],
      )
      return rows.map((row) => ({
        organisationId: row.organisation_id as number,
        promptId: row.prompt_id as number,
      }))
    },

    async finishQueued({ organisationId, promptId }, until) {
      await writeRows(
        database,
        'delete from judge_queue where organisation_id = ? and prompt_id = ? and claimed_until = ?',
        [organisationId, promptId, until],
      )
    },

    async votedPrompts(since, after, limit) {
      const rows = await database.rows(database.isDistributed ? votedInShards : votedByPrompt, [since, after, limit])
      const voted = rows.filter((row) => row.deleted_at === null && Boolean(row.voted))
      return { prompts: voted.map(toPrompt), last: rows.length < limit ? null : (rows.at(-1)?.id as number) }
    },
  }
}
