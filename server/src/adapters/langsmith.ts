import { type Adapter, commonValues } from './adapter.ts'

/** The webhook of an automation rule: runs with the averages of their feedback. */
export const langsmith: Adapter = {
  name: 'langsmith',
  // It signs nothing, but sends headers that the rule sets.
  authentication: { kind: 'bearer' },
  isMixed: true,
  fields: {
    events: '$.runs',
    prompt: '$.extra.metadata.lc_hub_repo',
    version: '$.extra.metadata.lc_hub_commit_hash',
    value: '$.feedback_stats.user_score.avg',
    subject: '$.id',
    voter: '$.extra.metadata.user_id',
    time: { any: ['$.end_time', '$.start_time'] },
  },
  values: commonValues,
  midpoint: 0.5,
}
