import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  aaRules,
  calmVotes,
  drifts,
  falseBlame,
  falseBlameUnderDrift,
  power,
  rules,
  shareWithin,
  waitsFor,
} from '../../../testing/verdicts.ts'
import { readStatements } from '../../../testing/votes.ts'

// The short form of `npm run verdicts`, with fixed seeds.

const statements = readStatements()

type Rule = (typeof rules)[string]

const ruleOf = (name: string) => rules[name] as Rule

for (const [share, rule] of Object.entries(aaRules)) {
  test(`a trial of ${share} without effect is called better or worse in at most 5% of real conversations`, () => {
    const found = falseBlame(statements, rule, 320, 2)
    assert.ok(found <= 0.05, `${100 * found}%`)
  })

  test(`a trial of ${share} without effect is called better or worse in at most 5% of histories, however the rate moves`, () => {
    const found = Object.values(drifts).map((source, i) => falseBlameUnderDrift(source, rule, 20, i))
    const mean = found.reduce((sum, one) => sum + one) / found.length
    assert.ok(mean <= 0.05, found.join(', '))
  })
}

test('rules for independent votes blame at least 30% of the changes that did nothing, and a trial at most 5%', () => {
  for (const name of ['fixed threshold of 10 points', 'z-test at every look', 'mSPRT']) {
    assert.ok(falseBlame(statements, ruleOf(name), 128, 1) >= 0.3, name)
  }
  assert.ok(falseBlame(statements, ruleOf('trial, 50%, from the change on'), 320, 1) <= 0.05)
})

test('a fall of 20 points on restless votes is found by most trials, and by few comparisons of before and after', () => {
  assert.ok(power(statements, ruleOf('trial, 50%, from the change on'), 20, 192, 20) >= 0.73)
  assert.ok(power(statements, ruleOf('our verdict'), 20, 64, 20) <= 0.3)
})

test('about half of the falls on calm votes have a verdict within the wait that reviewers are told', async () => {
  const calm = calmVotes['simulated: 85%, 2,000 votes before'] as (typeof calmVotes)[string]
  const { byVotes } = await waitsFor(calm, 20, 24, 5)
  const share = shareWithin(byVotes, 1)
  assert.ok(byVotes.length === 24 && share >= 0.3 && share <= 0.75, `${100 * share}% of ${byVotes.length}`)
})

test('votes as Polis exports them are read, without passes, and other columns are refused', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'promptledger-votes-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'votes.csv')
  writeFileSync(
    file,
    'timestamp,datetime,comment-id,voter-id,vote\n2000,Tue,7,1,-1\n1000,Tue,7,2,1\n3000,Tue,7,3,0\n1000,Tue,8,1,1\n',
  )
  const [first, second] = readStatements(file)
  assert.deepEqual(
    first?.votes.map(({ at, voter, isPositive }) => [at, voter, isPositive]),
    [
      [1000, 2, true],
      [2000, 1, false],
    ],
  )
  assert.equal(second?.id, 8)
  assert.deepEqual(
    readStatements(file, 2).map(({ id }) => id),
    [7],
  )
  writeFileSync(file, 'vote,voter,item,second\n1,anna,first,1\n1,ben,first,2\n-1,anna,second,3\n')
  const named = readStatements(file).map(({ votes }) => votes.map(({ at, voter }) => [at, voter]))
  const [anna, ben] = [named[0]?.[0]?.[1], named[0]?.[1]?.[1]]
  assert.notEqual(anna, ben)
  assert.deepEqual(named, [
    [
      [1000, anna],
      [2000, ben],
    ],
    [[3000, anna]],
  ])
  writeFileSync(file, 'when,what\n1,2\n')
  assert.throws(() => readStatements(file), /has no column item or comment-id/)
})
