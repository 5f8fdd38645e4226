import { cutBlocks, type Sum } from '../server/src/domain/impact/model/blocks.ts'
import { evidenceOfChanges } from '../server/src/domain/impact/model/evidence.ts'
import { judge } from '../server/src/domain/impact/model/judgement.ts'
import { totalOf } from '../server/src/domain/signals/tally.ts'
import { modelChangesOfVotes } from '../server/src/domain/telemetry/model-changes.ts'
import { day, hour, type Instant } from '../server/src/domain/time.ts'
import { seededRandom } from './random.ts'

// Plants a change of the prompt and a change of the model, where one moves the rate, and counts how often the verdict is right. Run
// as a program it prints the table of docs/impact.md: npx node testing/model-switches.ts [histories per row, 400 by default] [spans or votes]

export interface Planted {
  /** How many days after the change of the prompt the model changes; negative for before. */
  switchAfterDays: number
  culprit: 'model' | 'prompt'
  votesPerDay: number
  /** How far the rate falls, from 80%. */
  fall: number
}

const daysBefore = 20
const daysAfter = 20
const rate = 0.8
const start = Date.UTC(2026, 0, 1)
const changedAt = start + daysBefore * day

export type Verdict = 'blamed' | 'named the model' | 'undecided'

/** Who tells of the model: spans or a deployment, exactly; the votes themselves, by their metadata; or no one. */
export type Teller = 'spans' | 'votes' | null

/** The verdict on the change of the prompt after 20 days. */
export function verdictOf(
  { switchAfterDays, culprit, votesPerDay, fall }: Planted,
  seed: number,
  teller: Teller = 'spans',
): Verdict {
  const random = seededRandom(seed)
  const switchedAt: Instant = changedAt + switchAfterDays * day
  const fallsAt = culprit === 'model' ? switchedAt : changedAt
  const windows: [Sum[], Sum[]] = [[], []]
  const named: { at: Instant; model: string }[] = []
  for (let at = start; at < changedAt + daysAfter * day; at += hour) {
    const sum = { start: at, positive: 0, negative: 0 }
    const expected = votesPerDay / 24
    const votes = Math.floor(expected) + (random() < expected % 1 ? 1 : 0)
    for (let i = 0; i < votes; i++) named.push({ at, model: at < switchedAt ? 'large-1' : 'large-2' })
    for (let i = 0; i < votes; i++) sum[random() < rate - (at >= fallsAt ? fall : 0) ? 'positive' : 'negative']++
    windows[at < changedAt ? 0 : 1].push(sum)
  }
  const evidence = evidenceOfChanges(cutBlocks(windows), 2)[1] ?? null
  const change = { at: switchedAt, from: 'large-1', to: 'large-2', source: 'spans' as const }
  const models = teller === 'votes' ? modelChangesOfVotes(named) : teller === 'spans' ? [change] : []
  const { verdict, reason } = judge({
    before: totalOf(windows[0]),
    after: totalOf(windows[1]),
    evidence,
    models,
    liveFrom: changedAt,
  })
  if (verdict === 'better' || verdict === 'worse') return 'blamed'
  return reason?.kind === 'model' ? 'named the model' : 'undecided'
}

/** How often each verdict comes, in parts of 1. */
export function sharesOf(planted: Planted, histories: number, teller?: Teller): Record<Verdict, number> {
  const shares: Record<Verdict, number> = { blamed: 0, 'named the model': 0, undecided: 0 }
  for (let seed = 1; seed <= histories; seed++) shares[verdictOf(planted, seed, teller)] += 1 / histories
  return shares
}

export const switches = [-5, -2, 0, 2, 5]

if (import.meta.main) {
  const histories = Number(process.argv[2] ?? 400)
  const [from = 'spans'] = process.argv.slice(3) as Teller[]
  const percent = (share: number) => `${Math.round(share * 100)}%`
  console.log(
    '| votes per day, fall | model changes | model did it: prompt blamed | model unknown | prompt did it: prompt blamed | model named |',
  )
  console.log('|---|---|---|---|---|---|')
  for (const [votesPerDay, fall] of [
    [50, 0.15],
    [200, 0.1],
    [200, 0.05],
  ] as const) {
    for (const switchAfterDays of switches) {
      const planted = { switchAfterDays, votesPerDay, fall }
      const model = sharesOf({ ...planted, culprit: 'model' }, histories, from)
      const blind = sharesOf({ ...planted, culprit: 'model' }, histories, null)
      const prompt = sharesOf({ ...planted, culprit: 'prompt' }, histories, from)
      const when =
        switchAfterDays === 0
          ? 'in the same hour'
          : `${Math.abs(switchAfterDays)} days ${switchAfterDays < 0 ? 'before' : 'after'}`
      console.log(
        `| ${votesPerDay}, ${percent(fall)} | ${when} | ${percent(model.blamed)} | ${percent(blind.blamed)} | ${percent(prompt.blamed)} | ${percent(prompt['named the model'])} |`,
      )
    }
  }
}
