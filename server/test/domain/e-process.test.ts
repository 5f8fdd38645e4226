import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { seededRandom } from '../../../testing/random.ts'
import { addVote, constant, oneVote, pastOf } from '../../../testing/trial-simulation.ts'
import type { Arm } from '../../src/domain/trials/assignment.ts'
import {
  addVotes,
  daysUntilVerdict,
  differenceOfTrial,
  logCapital,
  startEvidence,
  type TrialEvidence,
  verdictOfTrial,
  votesUntilVerdict,
} from '../../src/domain/trials/e-process.ts'
import { assertClose, tallyOf } from './tallies.ts'

const tally = fc.record({ positive: fc.nat(60), negative: fc.nat(60) })
const share = fc.constantFrom(0.05, 0.1, 0.2, 0.5, 0.9)
const batches = fc.array(fc.record({ share, candidate: tally, control: tally }), { maxLength: 5 })

function evidenceOf(list: { share: number; candidate: typeof none; control: typeof none }[]): TrialEvidence {
  const evidence = startEvidence()
  for (const votes of list) addVotes(evidence, votes.share, votes)
  return evidence
}

const none = tallyOf(0, 0)

test('while the arms differ by what is assumed, the next vote leaves the expected capital unchanged, whatever the rate', () => {
  // The precondition of Ville's inequality. With a difference of 0 it makes the verdict safe, with others the range.
  const rate = fc.double({ min: 0.2, max: 0.8, noNaN: true })
  const difference = fc.constantFrom(0, 0, -0.2, -0.05, 0.1, 0.15)
  fc.assert(
    fc.property(batches, share, rate, difference, (list, next, control, assumed) => {
      const evidence = evidenceOf(list)
      const now = logCapital(evidence, assumed).both
      let expected = 0
      for (const arm of ['candidate', 'control'] satisfies Arm[]) {
        for (const isPositive of [true, false]) {
          const up = arm === 'candidate' ? control + assumed : control
          const chance = (arm === 'candidate' ? next : 1 - next) * (isPositive ? up : 1 - up)
          const after = structuredClone(evidence)
          addVotes(after, next, oneVote(arm, isPositive))
          expected += chance * Math.exp(logCapital(after, assumed).both - now)
        }
      }
      assertClose(expected, 1, 1e-9)
    }),
  )
})

test('a vote multiplies the capital of a bet on an effect by the likelihood ratio', () => {
  // Assumed rate 0.5 and share 0.5: with an effect e, the candidate's rate is 0.5 + e / 2 and that of the control 0.5 - e / 2.
  const evidence = startEvidence()
  addVotes(evidence, 0.5, oneVote('candidate', false))
  const effects = [0.0125, 0.025, 0.05, 0.1, 0.2]
  const parts = [1, 2, 6, 8, 4]
  const mean = (sign: number) =>
    effects.reduce((sum, effect, i) => sum + (parts[i] as number) * ((0.5 - (sign * effect) / 2) / 0.5), 0) / 21
  assertClose(Math.exp(logCapital(evidence).better), mean(1), 1e-12)
  assertClose(Math.exp(logCapital(evidence).worse), mean(-1), 1e-12)
})

test('a candidate with fewer positive votes is worse from a capital of 20, and the reverse better', () => {
  const before = pastOf(0.85)
  const trialOf = (candidate: typeof none, control: typeof none) => {
    const evidence = startEvidence(before)
    addVotes(evidence, 0.5, { candidate, control })
    return evidence
  }
  const decided = trialOf(tallyOf(184, 66), tallyOf(212, 38))
  const close = trialOf(tallyOf(185, 65), tallyOf(212, 38))
  assert.equal(verdictOfTrial(startEvidence(before)), 'undecided')
  assert.ok(logCapital(close).both < Math.log(20) && logCapital(decided).both >= Math.log(20))
  assert.equal(verdictOfTrial(close), 'undecided')
  assert.equal(verdictOfTrial(decided), 'worse')
  assert.equal(verdictOfTrial(trialOf(tallyOf(212, 38), tallyOf(184, 66))), 'better')
})

test('evidence that was stored as JSON continues where it stopped', () => {
  fc.assert(
    fc.property(batches, batches, (first, second) => {
      const whole = evidenceOf([...first, ...second])
      const stored: TrialEvidence = JSON.parse(JSON.stringify(evidenceOf(first)))
      for (const votes of second) addVotes(stored, votes.share, votes)
      assert.deepEqual(stored, whole)
    }),
  )
})

test('evidence stays small after 100,000 votes whose rate moves and whose share is changed twice', () => {
  const evidence = startEvidence()
  const random = seededRandom(1)
  const trial = {
    votes: 100_000,
    rate: (i: number) => 0.5 + 0.45 * Math.sin(i / 500),
    difference: 0,
    share: (i: number) => [0.05, 0.2, 0.5][Math.floor((3 * i) / 100_000)] as number,
  }
  for (let i = 0; i < trial.votes; i++) addVote(evidence, trial, i, random)
  const { length } = JSON.stringify(evidence)
  assert.ok(evidence.bets.length < 60 && length < 8_000, `${evidence.bets.length} bets, ${length} characters`)
})

test('votes while only one arm is live are no evidence', () => {
  const evidence = startEvidence()
  addVotes(evidence, 0, { candidate: none, control: tallyOf(500, 0) })
  addVotes(evidence, 1, { candidate: tallyOf(0, 500), control: none })
  assert.deepEqual(evidence.bets, [])
  assert.equal(verdictOfTrial(evidence), 'undecided')
  assert.equal(differenceOfTrial(evidence), null)
})

test('a share that is raised while the rate falls is no difference', () => {
  const evidence = startEvidence()
  addVotes(evidence, 0.1, { candidate: tallyOf(90, 10), control: tallyOf(810, 90) })
  addVotes(evidence, 0.5, { candidate: tallyOf(250, 250), control: tallyOf(250, 250) })
  assert.equal(verdictOfTrial(evidence), 'undecided')
  assertClose(differenceOfTrial(evidence)?.difference, 0, 1e-12)
})

test('the range excludes 0 exactly when there is a verdict', () => {
  const random = seededRandom(4)
  const found = { better: 0, worse: 0, undecided: 0 }
  for (const rate of [0.3, 0.6, 0.85]) {
    for (const difference of [-0.15, 0, 0.14]) {
      for (const share of [0.1, 0.5]) {
        const evidence = startEvidence()
        const trial = { votes: 1_000, rate: constant(rate), difference, share: constant(share) }
        for (let i = 0; i < trial.votes; i++) addVote(evidence, trial, i, random)
        const verdict = verdictOfTrial(evidence)
        const [low, high] = rangeOf(evidence)
        assert.equal(verdict, high <= 0 ? 'worse' : low >= 0 ? 'better' : 'undecided', `${low} to ${high}`)
        found[verdict]++
      }
    }
  }
  assert.ok(found.better > 0 && found.worse > 0 && found.undecided > 0, JSON.stringify(found))
})

function rangeOf(evidence: TrialEvidence): [number, number] {
  const found = differenceOfTrial(evidence)
  assert.ok(found !== null)
  const { difference, interval } = found
  assert.ok(interval[0] < difference && difference < interval[1])
  return interval
}

test('votes that speak against every difference, because their arms were not drawn with the share, have no range', () => {
  const evidence = startEvidence()
  addVotes(evidence, 0.05, { candidate: tallyOf(0, 40), control: tallyOf(0, 1) })
  assert.equal(differenceOfTrial(evidence), null)
})

test('the range contains the true difference at every look in at least 95% of trials, and narrows', () => {
  const random = seededRandom(5)
  const trial = { votes: 2_000, rate: constant(0.8), difference: -0.07, share: constant(0.3) }
  const widths: number[] = []
  let missed = 0
  for (let run = 0; run < 200; run++) {
    const evidence = startEvidence(pastOf(0.8))
    let isMissed = false
    for (let i = 0; i < trial.votes; i++) {
      addVote(evidence, trial, i, random)
      // Its edges are where the capital reaches 20. Looking only at the true difference is faster than finding them.
      if (i % 50 === 49) isMissed ||= logCapital(evidence, trial.difference).both >= Math.log(20)
    }
    if (isMissed) missed++
    if (run < 20) {
      const [low, high] = rangeOf(evidence)
      widths.push(high - low)
    }
  }
  assert.ok(missed <= 10, `${missed} of 200`)
  assert.ok(Math.max(...widths) < 0.25, `${Math.max(...widths)}`)
})

test('the expected number of votes until a verdict is somewhat above the median of simulated trials', () => {
  // 85→75% takes 500 votes at a share of 50% and 1,200 at 10%, 85→80% takes 1,690 (testing/trial-simulation.ts).
  const until = (points: number, share: number) =>
    votesUntilVerdict(startEvidence(pastOf(0.85 - share * points)), share, -points) as number
  for (const [votes, median] of [
    [until(0.1, 0.5), 500],
    [until(0.1, 0.1), 1_200],
    [until(0.05, 0.5), 1_690],
  ] as const) {
    assert.ok(votes > median && votes < 1.5 * median, `${votes} instead of ${median}`)
  }
})

test('votes that speak for an effect shorten the time to a verdict, and a difference too small to find has none', () => {
  const evidence = startEvidence(pastOf(0.8))
  const all = votesUntilVerdict(evidence, 0.5, -0.1) as number
  addVotes(evidence, 0.5, { candidate: tallyOf(75, 25), control: tallyOf(85, 15) })
  assert.ok((votesUntilVerdict(evidence, 0.5, -0.1) as number) < all - 100)
  assert.equal(votesUntilVerdict(evidence, 0.5, 0.001), null)
  assert.equal(votesUntilVerdict(evidence, 0, -0.1), null)
  addVotes(evidence, 0.5, { candidate: tallyOf(100, 100), control: tallyOf(170, 30) })
  assert.equal(votesUntilVerdict(evidence, 0.5, -0.1), 0)
})

test('the days until a verdict follow from the votes of a day, and from the difference once both arms have 20 votes', () => {
  const evidence = startEvidence(pastOf(0.8))
  const days = daysUntilVerdict(evidence, 0.5, 100)
  assert.equal(days, (votesUntilVerdict(evidence, 0.5, -0.1) as number) / 100)
  assert.equal(daysUntilVerdict(evidence, 0.5, 200), (days as number) / 2)
  assert.equal(daysUntilVerdict(evidence, 0.5, 0), null)
  addVotes(evidence, 0.5, { candidate: tallyOf(60, 40), control: tallyOf(80, 20) })
  assert.equal(daysUntilVerdict(evidence, 0.5, 1), votesUntilVerdict(evidence, 0.5, -0.2))
  assert.equal(
    daysUntilVerdict(evidenceOf([{ share: 0.5, candidate: tallyOf(80, 20), control: tallyOf(80, 20) }]), 0.5, 100),
    null,
  )
})
