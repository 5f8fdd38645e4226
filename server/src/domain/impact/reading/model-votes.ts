import { type ModelChange, modelChangesOfVotes, modelKeys } from '../../telemetry/model-changes.ts'
import type { AudienceStores } from './audience.ts'
import { segmentVotesOf } from './segment-votes.ts'
import { endOfHours, type VoteHistory } from './vote-history.ts'

/** When the newest 20,000 votes began to name another model, by each declared key that names it. */
export async function modelChangesOfNewestVotes(
  { signals, segments }: AudienceStores,
  { prompt, moment }: Pick<VoteHistory, 'prompt' | 'moment'>,
): Promise<ModelChange[][]> {
  const keys = (await segments.ofPrompt(prompt)).keys.filter((key) => modelKeys.includes(key))
  if (keys.length === 0) return []
  const until = moment.isPast ? moment.at + 1 : endOfHours(moment)
  const window = { versions: [], spans: [{ from: 0, until }], unversionedOnly: false, until }
  const byKey = await segmentVotesOf(signals, prompt, window, 'newest', keys)
  return [...byKey.values()].map((byValue) =>
    modelChangesOfVotes(
      [...byValue].flatMap(([model, votes]) => (model === null ? [] : votes.map(({ at }) => ({ at, model })))),
    ),
  )
}
