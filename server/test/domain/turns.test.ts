import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createTurns, type Turn, type Turns } from '../../src/domain/turns.ts'

const minute = 60_000

/** Turns on a clock that the test sets. */
function open(slots: number, maxMs?: number) {
  const clock = { ms: 0 }
  const turns = createTurns({
    slots,
    slotsPerOrganisation: 2,
    quickMs: 100,
    now: () => clock.ms,
    ...(maxMs && { maxMs }),
  })
  return { clock, turns }
}

/** Gives a turn that takes this long. */
function use({ clock, turns }: ReturnType<typeof open>, organisationId: number, ms: number): void {
  const turn = turns.start(organisationId)
  clock.ms += ms
  turns.end(turn)
}

function startAll(turns: Turns, organisations: number[]): Turn[] {
  return organisations.flatMap((id) => (turns.hasRoom(id) ? [turns.start(id)] : []))
}

const hostile = Array.from({ length: 20 }, (_, i) => 100 + i)

describe('Turns of organisations', () => {
  test('the organisation that used the slots least lately comes first, counting what is in progress, and less and less of what was long ago', () => {
    const context = open(4)
    use(context, 1, 50)
    use(context, 2, 20)
    const order = () => context.turns.order([1, 2, 3].map((organisationId) => ({ organisationId })))
    const ids = () => order().map(({ organisationId }) => organisationId)
    assert.deepEqual(ids(), [3, 2, 1])
    context.turns.start(3)
    context.clock.ms += 30
    assert.deepEqual(ids(), [2, 3, 1])
    context.clock.ms += 24 * 60 * minute
    use(context, 2, 5)
    assert.deepEqual(ids(), [1, 2, 3])
  })

  test('twenty organisations whose work was slow occupy half of the slots together, and for an hour', () => {
    const context = open(4)
    const { clock, turns } = context
    for (const id of hostile) use(context, id, 101)
    const running = startAll(turns, hostile)
    assert.equal(running.length, 2)
    const others = startAll(turns, [1, 2, 3])
    assert.equal(others.length, 2)
    for (const turn of [...running, ...others]) turns.end(turn)
    clock.ms += 61 * minute
    assert.equal(startAll(turns, hostile).length, 4)
  })

  test('of those found slow only while they run, the ones beyond half of the slots are in the way of an organisation that waits', () => {
    const { clock, turns } = open(4)
    const running = startAll(turns, hostile)
    assert.equal(running.length, 4)
    assert.deepEqual(turns.inTheWayOf([1]), [])
    clock.ms += 101
    assert.deepEqual(turns.inTheWayOf([]), [], 'no one waits')
    assert.deepEqual(turns.inTheWayOf([hostile[0] as number]), [], 'only one that is slow itself waits')
    assert.deepEqual(turns.inTheWayOf([1]), running.slice(2))
    for (const turn of running.slice(2)) turns.end(turn)
    assert.deepEqual(turns.inTheWayOf([1]), [])
    assert.ok(turns.hasRoom(1))
    assert.ok(!turns.hasRoom(hostile[2] as number))
  })

  test('work without an end makes room for other slow work after a time', () => {
    const context = open(2, 10 * minute)
    const { clock, turns } = context
    use(context, 2, 101)
    const endless = turns.start(1)
    clock.ms += 101
    assert.ok(!turns.hasRoom(2))
    assert.deepEqual(turns.inTheWayOf([2]), [])
    clock.ms += 10 * minute
    assert.deepEqual(turns.inTheWayOf([2]), [endless])
  })
})
