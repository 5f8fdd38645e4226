import type { JudgedChange } from '../server/src/domain/impact/judged-changes.ts'
import { cutBlocks, type Sum } from '../server/src/domain/impact/model/blocks.ts'
import { evidenceOfChanges } from '../server/src/domain/impact/model/evidence.ts'
import { judge } from '../server/src/domain/impact/model/judgement.ts'
import { rateOf } from '../server/src/domain/impact/model/verdict.ts'
import type { RegressionFigures } from '../server/src/domain/regressions/regression.ts'
import { findWithdrawal } from '../server/src/domain/regressions/withdrawal.ts'
import { totalOf } from '../server/src/domain/signals/tally.ts'
import { hourStart } from '../server/src/domain/time.ts'
import { seededRandom } from './random.ts'
import { episodes, rates, type Source, steady, walk } from './votes.ts'

// How often a regression opens, is withdrawn and opens again, looked at after every 40 votes.
// Run as a program it prints a table: npx node testing/withdrawal-simulation.ts [histories per row, 60 by default]

const votesPerLook = 40

interface Course {
  opened: number
  withdrawn: number
  isOpen: boolean
}

/** What becomes of the regression of one change. Repairs are left out. */
function follow({ votes, change }: ReturnType<Source>): Course {
  const windows: [Sum[], Sum[]] = [[], []]
  const course = { opened: 0, withdrawn: 0, isOpen: false }
  let figures: RegressionFigures | null = null
  for (const [i, { at, isPositive }] of votes.entries()) {
    const sums = windows[i >= change ? 1 : 0]
    if (sums.at(-1)?.start !== hourStart(at)) sums.push({ start: hourStart(at), positive: 0, negative: 0 })
    const sum = sums.at(-1) as Sum
    if (isPositive) sum.positive++
    else sum.negative++
    if (i < change || (i - change) % votesPerLook > 0) continue
    const [before, after] = [totalOf(windows[0]), totalOf(windows[1])]
    const evidence = evidenceOfChanges(cutBlocks(windows), 2)[1] ?? null
    const judged = { ...judge({ before, after, evidence }), before, after, explanation: 'Taken back.' } as JudgedChange
    if (judged.verdict === 'worse') {
      if (!course.isOpen) course.opened++
      course.isOpen = true
      figures = { rateBefore: rateOf(before), rateAfter: rateOf(after) } as RegressionFigures
    } else if (course.isOpen && findWithdrawal(judged, figures as RegressionFigures) !== null) {
      course.withdrawn++
      course.isOpen = false
    }
  }
  return course
}

const later = (votes: number) => steady(2_000, 2_000, () => (i) => (i >= 2_000 + votes ? 0.75 : 0.85))

const sources: [name: string, Source][] = [
  ['85→75% with the change', steady(2_000, 2_000, rates(0.85, 0.75))],
  ['85→80% with the change', steady(2_000, 2_000, rates(0.85, 0.8))],
  ['85→75% 100 votes later', later(100)],
  ['85→75% 200 votes later', later(200)],
  ['random walk, 1 point a day', steady(2_000, 2_000, walk(1))],
  ['an audience of its own every 800 votes for 600', steady(1_000, 1_000, episodes(800, 600, 0.3))],
]

if (import.meta.main) {
  const histories = Number(process.argv[2] ?? 60)
  console.log('| fall | regression opened | withdrawn | opened again | open in the end |\n|---|---:|---:|---:|---:|')
  for (const [name, source] of sources) {
    const random = seededRandom(5)
    const courses = Array.from({ length: histories }, () => follow(source(random)))
    const share = (is: (course: Course) => boolean) => `${((100 * courses.filter(is).length) / histories).toFixed(1)}%`
    const row = [
      share(({ opened }) => opened > 0),
      share(({ withdrawn }) => withdrawn > 0),
      share(({ opened }) => opened > 1),
      share(({ isOpen }) => isOpen),
    ]
    console.log(`| ${name} | ${row.join(' | ')} |`)
  }
}
