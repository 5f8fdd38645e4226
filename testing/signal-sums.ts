import assert from 'node:assert/strict'
import { queryEach } from './rows.ts'

type Rows = Record<string, unknown>[]

const hourOf = 'created_at - created_at % 3600000'
const sums = `sum(case value when 'positive' then 1 else 0 end) as positive, sum(case value when 'negative' then 1 else 0 end) as negative`

const added = 'sum(positive) as positive, sum(negative) as negative'
const hours = `select organisation_id, prompt_id, hour, ${added} from hour_sums group by organisation_id, prompt_id, hour`
const versions = `select organisation_id, prompt_id, version, hour, ${added} from version_sums
  group by organisation_id, prompt_id, version, hour`

/**
 * Compares the raw rows of all signals with everything that is derived from them: hourly sums, sums by version, votes on subjects
 * and usage. Signals that were deleted or withdrawn still count towards usage, so it may be larger.
 */
export async function assertSumsAgree(url: string, countsRemoved = true): Promise<void> {
  const kept = '(select kept_since from signal_retention)'
  const [hourSums, rawHours, versionSums, rawVersions, negative, votes, usage, received] = (await queryEach(url, [
    `select * from (${hours}) as hours where hour >= ${kept} and (positive <> 0 or negative <> 0)`,
    `select organisation_id, prompt_id, ${hourOf} as hour, ${sums} from signals where created_at >= ${kept}
       group by organisation_id, prompt_id, ${hourOf}`,
    `select * from (${versions}) as versions where hour >= ${kept} and (positive <> 0 or negative <> 0)`,
    `select organisation_id, prompt_id, version, ${hourOf} as hour, ${sums} from signals
       where created_at >= ${kept} and version is not null group by organisation_id, prompt_id, version, ${hourOf}`,
    `select 'hour' as sums, hour from (${hours}) as hours where positive < 0 or negative < 0
       union all select version, hour from (${versions}) as versions where positive < 0 or negative < 0`,
    // Every vote and every raw row with a subject, where one has no counterpart in the other.
    `select v.organisation_id, v.prompt_id, v.subject, v.signal_id, v.value, s.id, s.value as raw_value,
         v.version, s.version as raw_version, v.created_at, s.created_at as raw_created_at, v.received_at, s.received_at as raw_received_at
       from signal_subjects v left join signals s
         on s.organisation_id = v.organisation_id and s.prompt_id = v.prompt_id and s.id = v.signal_id
       where v.created_at >= ${kept} and (
         (v.value is null) <> (s.id is null)
         or s.value <> v.value or s.subject <> v.subject or s.created_at <> v.created_at
         or coalesce(s.received_at, s.created_at) <> v.received_at
         or (s.id is not null and coalesce(s.version, '') <> coalesce(v.version, '')))
       union all
       select s.organisation_id, s.prompt_id, s.subject, s.id, s.value, null, null, null, s.version, null, s.created_at, null, s.received_at from signals s
       where s.subject is not null and s.created_at >= ${kept} and not exists (
         select 1 from signal_subjects v where v.organisation_id = s.organisation_id and v.prompt_id = s.prompt_id
           and v.subject = s.subject and v.signal_id = s.id)`,
    'select organisation_id, sum(used) as used from month_usage group by organisation_id',
    'select organisation_id, count(*) as stored from signals group by organisation_id',
  ])) as [Rows, Rows, Rows, Rows, Rows, Rows, Rows, Rows]
  assert.deepEqual(sorted(hourSums), sorted(rawHours), 'hourly sums')
  assert.deepEqual(sorted(versionSums), sorted(rawVersions), 'sums by version')
  assert.deepEqual(negative, [], 'negative sums')
  assert.deepEqual(votes, [], 'votes without their signal, or signals without their vote')
  const usedBy = new Map(usage.map((row) => [String(row.organisation_id), Number(row.used)]))
  for (const { organisation_id, stored } of received) {
    const used = usedBy.get(String(organisation_id)) ?? 0
    assert.ok(countsRemoved ? used >= Number(stored) : used === Number(stored), `usage ${used}, signals ${stored}`)
  }
}

function sorted(rows: Rows): string[] {
  return rows.map((row) => Object.values(row).join(' ')).sort()
}
