import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defaultRules } from '../../../testing/alerts.ts'
import type { DeliveryEvent } from '../../src/domain/alerts/event.ts'
import {
  type EarlierDelivery,
  type Listener,
  pullListener,
  type TellableRegression,
  type Telling,
  tellOfLimit,
  tellOfRegressions,
  tellOfRepository,
  tellOfShift,
  tellOfTrial,
} from '../../src/domain/alerts/telling.ts'
import { day, hour, minute } from '../../src/domain/time.ts'

const now = 1_000 * day
const listener: Listener = { ...defaultRules, channel: 'slack', createdAt: 0 }

function regression(values: Partial<TellableRegression> = {}): TellableRegression {
  return {
    id: 1,
    state: 'open',
    openedAt: now - hour,
    closedAt: null,
    prompt: { name: 'support/greeting', path: null },
    evidence: 8,
    difference: -0.15,
    interval: [-0.2, -0.1],
    signalsAfter: 1_200,
    liveFrom: now - 5 * day,
    isGone: false,
    quietUntil: null,
    ...values,
  }
}

const closed = (state: 'repaired' | 'withdrawn' | 'dismissed', agoMs: number, id = 1) =>
  regression({ id, state, closedAt: now - agoMs })

function delivery(values: Partial<EarlierDelivery> & { ids?: number[] } = {}): EarlierDelivery {
  const { ids = [1], ...others } = values
  return {
    id: 70,
    event: 'regression.opened',
    round: 1,
    repeat: 0,
    state: 'sent',
    attempts: 1,
    status: 200,
    isInFlight: false,
    isClaimed: false,
    createdAt: now - hour,
    told: ids.map((id) => ({ id, state: 'open' as const })),
    ...others,
  }
}

const nothing: Telling = { cancel: null, queue: null, dueAt: null }
const queued = (event: DeliveryEvent, ids = [1], repeat = 0, unsent: string | null = null) => ({
  ...nothing,
  queue: { event, ids, repeat, unsent },
})
const later = (afterMs: number): Telling => ({ ...nothing, dueAt: now + afterMs })

interface Case {
  name: string
  regressions: TellableRegression[]
  to?: Partial<Listener>
  earlier?: EarlierDelivery[]
  round?: number
  expected: Telling
}

const opened = queued('regression.opened')
const repaired = queued('regression.repaired')
const withdrawn = queued('regression.withdrawn')
const pending = { state: 'pending', attempts: 0, status: null } as const
const pull: Partial<Listener> = pullListener

const cases: Record<string, Case[]> = {
  'before anyone was told': [
    { name: 'a certain regression that held long enough is told', regressions: [regression()], expected: opened },
    {
      name: 'one that has not held yet is told when it has',
      regressions: [regression({ openedAt: now - 10 * minute })],
      expected: later(5 * minute),
    },
    {
      name: 'each alert has its own hold',
      regressions: [regression({ openedAt: now - 10 * minute })],
      to: { holdMs: 10 * minute },
      expected: opened,
    },
    {
      name: 'one with too few signals is checked again',
      regressions: [regression({ signalsAfter: 49 })],
      expected: later(5 * minute),
    },
    {
      name: 'each alert has its own number of signals',
      regressions: [regression({ signalsAfter: 49 })],
      to: { minSignals: 20 },
      expected: opened,
    },
    {
      name: 'one that is not certain enough is checked again',
      regressions: [regression({ evidence: 1.4 })],
      expected: later(5 * minute),
    },
    {
      name: 'one that is fairly certain is told while its change is new',
      regressions: [regression({ evidence: 1.6 })],
      expected: opened,
    },
    {
      name: 'one that is fairly certain after weeks may be drift, and is checked again',
      regressions: [regression({ evidence: 1.6, liveFrom: now - 20 * day })],
      expected: later(5 * minute),
    },
    {
      name: 'one without figures is checked again',
      regressions: [regression({ evidence: null })],
      expected: later(5 * minute),
    },
    {
      name: 'one that was repaired meanwhile is never told',
      regressions: [closed('repaired', minute)],
      expected: nothing,
    },
    {
      name: 'one that was withdrawn meanwhile is never told',
      regressions: [closed('withdrawn', minute)],
      expected: nothing,
    },
    {
      name: 'one that was dismissed meanwhile is never told',
      regressions: [closed('dismissed', minute)],
      expected: nothing,
    },
    { name: 'one of a deleted prompt is not told', regressions: [regression({ isGone: true })], expected: nothing },
    {
      name: 'one that opened before the alert existed is not told',
      regressions: [regression()],
      to: { createdAt: now - minute },
      expected: nothing,
    },
    {
      name: 'a prompt that the filter leaves out is not told',
      regressions: [regression()],
      to: { prompts: 'sales/*' },
      expected: nothing,
    },
    {
      name: 'a prompt that the filter includes is told',
      regressions: [regression()],
      to: { prompts: 'support/*' },
      expected: opened,
    },
    {
      name: 'an alert for other events is not told',
      regressions: [regression()],
      to: { events: ['limit.near'] },
      expected: nothing,
    },
    {
      name: 'ten prompts of one pull request are one message',
      regressions: Array.from({ length: 10 }, (_, i) =>
        regression({ id: i + 1, prompt: { name: `p${i}`, path: null } }),
      ),
      expected: queued('regression.opened', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
    },
    {
      name: 'of several prompts, only those are named that are certain and match the filter',
      regressions: [
        regression(),
        regression({ id: 2, evidence: 1.4 }),
        regression({ id: 3, prompt: { name: 'sales/a', path: null } }),
      ],
      to: { prompts: 'support/*' },
      expected: opened,
    },
    {
      name: 'the filter matches the path of a prompt that was renamed',
      regressions: [regression({ prompt: { name: 'Greeting', path: 'support/greeting.md' } })],
      to: { prompts: 'support/*' },
      expected: opened,
    },
  ],
  'after it was told': [
    {
      name: 'it is not told again while it is open',
      regressions: [regression()],
      earlier: [delivery()],
      expected: nothing,
    },
    {
      name: 'another prompt of the same pull request is not told',
      regressions: [regression(), regression({ id: 2, prompt: { name: 'support/b', path: null } })],
      earlier: [delivery()],
      expected: nothing,
    },
    {
      name: 'an alert whose filter did not match before hears of a later prompt',
      regressions: [regression(), regression({ id: 2, prompt: { name: 'sales/b', path: null } })],
      to: { prompts: 'sales/*' },
      expected: queued('regression.opened', [2]),
    },
    {
      name: 'a message that waits is not queued twice',
      regressions: [regression()],
      earlier: [delivery(pending)],
      expected: nothing,
    },
    {
      name: 'a message that failed is not queued again',
      regressions: [regression()],
      earlier: [delivery({ state: 'failed' })],
      expected: nothing,
    },
    {
      name: 'it is told again after a message that was cancelled',
      regressions: [regression()],
      earlier: [delivery({ state: 'cancelled' })],
      expected: queued('regression.opened', [1], 1),
    },
    {
      name: 'it is told again to an alert with repeats',
      regressions: [regression()],
      to: { repeatMs: hour },
      earlier: [delivery()],
      expected: { ...queued('regression.opened', [1], 1), dueAt: now + hour },
    },
    {
      name: 'one that is acknowledged is not told again',
      regressions: [regression({ quietUntil: Number.POSITIVE_INFINITY })],
      to: { repeatMs: hour },
      earlier: [delivery()],
      expected: nothing,
    },
    {
      name: 'one that is snoozed is told again afterwards',
      regressions: [regression({ quietUntil: now + day })],
      to: { repeatMs: hour },
      earlier: [delivery()],
      expected: later(day),
    },
    {
      name: 'one that is acknowledged beside another one does not keep that from being told again',
      regressions: [regression({ quietUntil: Number.POSITIVE_INFINITY }), regression({ id: 2 })],
      to: { repeatMs: hour },
      earlier: [delivery({ ids: [1, 2] })],
      expected: { ...queued('regression.opened', [1, 2], 1), dueAt: now + hour },
    },
    {
      name: 'not before the time',
      regressions: [regression()],
      to: { repeatMs: 2 * hour },
      earlier: [delivery()],
      expected: later(hour),
    },
    {
      name: 'not while the last message waits',
      regressions: [regression()],
      to: { repeatMs: hour },
      earlier: [delivery(pending)],
      expected: later(hour),
    },
    {
      name: 'not more often than every ten minutes',
      regressions: [regression()],
      to: { repeatMs: 1 },
      earlier: [delivery({ createdAt: now })],
      expected: later(10 * minute),
    },
  ],
  'when it is over': [
    {
      name: 'those who were told are told',
      regressions: [closed('repaired', hour)],
      earlier: [delivery()],
      expected: repaired,
    },
    {
      name: 'a verdict that was taken back is told',
      regressions: [closed('withdrawn', hour)],
      earlier: [delivery()],
      expected: withdrawn,
    },
    {
      name: 'a recovery has to hold',
      regressions: [closed('repaired', 10 * minute)],
      earlier: [delivery()],
      expected: later(5 * minute),
    },
    {
      name: 'each alert has its own hold of a recovery',
      regressions: [closed('repaired', 10 * minute)],
      to: { recoveryHoldMs: 0 },
      earlier: [delivery()],
      expected: repaired,
    },
    {
      name: 'one that opened again before the recovery held is not told at all',
      regressions: [regression({ openedAt: now - minute })],
      earlier: [delivery()],
      round: 2,
      expected: nothing,
    },
    {
      name: 'it is told once',
      regressions: [closed('repaired', hour)],
      earlier: [delivery(), delivery({ event: 'regression.repaired' })],
      expected: nothing,
    },
    {
      name: 'it is told once when its message failed',
      regressions: [closed('repaired', hour)],
      earlier: [delivery(), delivery({ event: 'regression.repaired', state: 'failed' })],
      expected: nothing,
    },
    {
      name: 'one that opens again later is told again',
      regressions: [regression()],
      earlier: [delivery(), delivery({ event: 'regression.repaired' })],
      round: 2,
      expected: opened,
    },
    {
      name: 'it is not over while another prompt that was told is open',
      regressions: [closed('repaired', hour), regression({ id: 2 })],
      earlier: [delivery({ ids: [1, 2] })],
      expected: nothing,
    },
    {
      name: 'it is not over while another certain prompt of the pull request is open',
      regressions: [closed('repaired', hour), regression({ id: 2 })],
      earlier: [delivery()],
      expected: nothing,
    },
    {
      name: 'a doubtful prompt does not keep it open',
      regressions: [closed('repaired', hour), regression({ id: 2, evidence: 1.4 })],
      earlier: [delivery()],
      expected: { ...repaired, dueAt: now + 5 * minute },
    },
    {
      name: 'one repaired prompt beside a dismissed and a withdrawn one is a repair',
      regressions: [closed('dismissed', hour), closed('repaired', hour, 2), closed('withdrawn', hour, 3)],
      earlier: [delivery({ ids: [1, 2, 3] })],
      expected: queued('regression.repaired', [1, 2, 3]),
    },
    {
      name: 'all prompts that were told in any message are named',
      regressions: [closed('repaired', hour), closed('repaired', hour, 2)],
      earlier: [delivery({ ids: [1] }), delivery({ ids: [2], repeat: 1 })],
      expected: queued('regression.repaired', [1, 2]),
    },
    {
      name: 'a filter that was changed meanwhile does not matter',
      regressions: [closed('repaired', hour)],
      to: { prompts: 'sales/*' },
      earlier: [delivery()],
      expected: repaired,
    },
    {
      name: 'an alert without the event is not told, and is told when it opens again',
      regressions: [closed('repaired', hour)],
      to: { events: ['regression.opened'] },
      earlier: [delivery()],
      expected: queued('regression.repaired', [1], 0, 'Not sent: the alert does not include regression.repaired.'),
    },
    {
      name: 'a message that still waits is cancelled, and nothing is told',
      regressions: [closed('repaired', minute)],
      earlier: [delivery(pending)],
      expected: { ...nothing, cancel: 70 },
    },
    {
      name: 'a message that the receiver rejected so far is cancelled, and nothing is told',
      regressions: [closed('repaired', minute)],
      earlier: [delivery({ ...pending, attempts: 2, status: 500 })],
      expected: { ...nothing, cancel: 70 },
    },
    {
      name: 'a message that may have arrived is cancelled, and its end is told',
      regressions: [closed('repaired', hour)],
      earlier: [delivery({ ...pending, attempts: 2, status: null })],
      expected: { ...repaired, cancel: 70 },
    },
    {
      name: 'a message that is being sent is waited for',
      regressions: [closed('repaired', hour)],
      earlier: [delivery({ ...pending, isInFlight: true })],
      expected: later(5_000),
    },
    {
      name: 'a message whose process died may have arrived, so the end is told',
      regressions: [closed('repaired', hour)],
      earlier: [delivery({ ...pending, isClaimed: true })],
      expected: { ...repaired, cancel: 70 },
    },
    {
      name: 'a repeat that waits is cancelled, and the end is told',
      regressions: [closed('repaired', hour)],
      earlier: [delivery(), delivery({ ...pending, id: 71, repeat: 1 })],
      expected: { ...repaired, cancel: 71 },
    },
    {
      name: 'the end of a message that never arrived is not told',
      regressions: [closed('repaired', hour)],
      earlier: [delivery({ state: 'failed', status: 500 })],
      expected: queued('regression.repaired', [1], 0, 'Not sent: the message before it never arrived.'),
    },
  ],
  'when it is dismissed': [
    {
      name: 'alerts are not told',
      regressions: [closed('dismissed', 0)],
      earlier: [delivery()],
      expected: queued(
        'regression.dismissed',
        [1],
        0,
        'Not sent: dismissals only reach PagerDuty, Linear and pull requests.',
      ),
    },
    {
      name: 'the incident in PagerDuty is resolved at once',
      regressions: [closed('dismissed', 0)],
      to: { channel: 'pagerduty', events: ['regression.opened'] },
      earlier: [delivery()],
      expected: queued('regression.dismissed'),
    },
    {
      name: 'the issue in Linear is closed at once',
      regressions: [closed('dismissed', 0)],
      to: { channel: 'linear', events: ['regression.opened'] },
      earlier: [delivery()],
      expected: queued('regression.dismissed'),
    },
    {
      name: 'so it is when the prompt is deleted',
      regressions: [regression({ isGone: true })],
      to: { channel: 'pagerduty' },
      earlier: [delivery()],
      expected: queued('regression.dismissed'),
    },
    {
      name: 'so it is when the regression no longer exists',
      regressions: [],
      to: { channel: 'pagerduty' },
      earlier: [delivery()],
      expected: queued('regression.dismissed', []),
    },
  ],
  'on a pull request': [
    { name: 'it is told like to an alert', regressions: [regression()], to: pull, expected: opened },
    { name: 'it is told once', regressions: [regression()], to: pull, earlier: [delivery()], expected: nothing },
    {
      name: 'another prompt is added',
      regressions: [regression(), regression({ id: 2 })],
      to: pull,
      earlier: [delivery()],
      expected: queued('regression.opened', [1, 2], 1),
    },
    {
      name: 'another prompt is added when it is certain',
      regressions: [regression(), regression({ id: 2, openedAt: now - 5 * minute })],
      to: pull,
      earlier: [delivery()],
      expected: later(10 * minute),
    },
    {
      name: 'a prompt that is repaired is shown',
      regressions: [closed('repaired', minute), regression({ id: 2 })],
      to: pull,
      earlier: [delivery({ ids: [1, 2] })],
      expected: queued('regression.opened', [1, 2], 1),
    },
    {
      name: 'an outdated comment that waits is replaced',
      regressions: [regression(), regression({ id: 2 })],
      to: pull,
      earlier: [delivery(pending)],
      expected: { ...queued('regression.opened', [1, 2], 1), cancel: 70 },
    },
    {
      name: 'an outdated comment that is being sent is waited for',
      regressions: [regression(), regression({ id: 2 })],
      to: pull,
      earlier: [delivery({ ...pending, isInFlight: true })],
      expected: later(5_000),
    },
    {
      name: 'a dismissal is shown',
      regressions: [closed('dismissed', 0)],
      to: pull,
      earlier: [delivery()],
      expected: queued('regression.dismissed'),
    },
  ],
}

for (const [situation, list] of Object.entries(cases)) {
  describe(`Telling of a regression, ${situation}`, () => {
    for (const { name, regressions, to = {}, earlier = [], round = 1, expected } of list) {
      test(name, () => {
        assert.deepEqual(tellOfRegressions(regressions, { ...listener, ...to }, earlier, round, now), expected)
      })
    }
  })
}

describe('Telling of a repository', () => {
  const failing = { isFailing: true, openedAt: now - hour, endedAt: null, isConnected: true }
  const recovered = { ...failing, isFailing: false, endedAt: now - hour }
  const told = delivery({ event: 'repository.failing', ids: [0] })
  const of = (notice: typeof failing | typeof recovered, earlier: EarlierDelivery[] = [], to: Partial<Listener> = {}) =>
    tellOfRepository(notice, { ...listener, ...to }, earlier, 1, now)

  test('it is told when it has failed for long enough, and once', () => {
    assert.deepEqual(of(failing), queued('repository.failing', [0]))
    assert.deepEqual(of({ ...failing, openedAt: now - minute }), later(14 * minute))
    assert.deepEqual(of(failing, [told]), nothing)
    assert.deepEqual(of(failing, [], { events: ['regression.opened'] }), nothing)
    assert.deepEqual(of(failing, [], { createdAt: now }), nothing)
  })

  test('its recovery is told after it held, to those who were told', () => {
    assert.deepEqual(of(recovered, [told]), queued('repository.recovered', [0]))
    assert.deepEqual(of({ ...recovered, endedAt: now - minute }, [told]), later(14 * minute))
    assert.deepEqual(of(recovered), nothing)
  })

  test('a disconnected one only closes its incident', () => {
    const gone = { ...recovered, isConnected: false }
    const unsent = 'Not sent: the repository was disconnected.'
    assert.deepEqual(of(gone, [told]), queued('repository.recovered', [0], 0, unsent))
    assert.deepEqual(of(gone, [told], { channel: 'pagerduty' }), queued('repository.recovered', [0]))
  })
})

describe('Telling of a shift without a cause', () => {
  const falls = ['support/a', 'support/b'].map((name) => ({ prompt: { name, path: null }, foundAt: now - 2 * hour }))
  const of = (openedAt: number, earlier: EarlierDelivery[] = [], to: Partial<Listener> = {}, of = falls) =>
    tellOfShift({ openedAt, falls: of }, { ...listener, ...to }, earlier, now)

  test('many prompts that fall at once are one message, after the hold', () => {
    assert.deepEqual(of(now - hour), queued('shift.unexplained', []))
    assert.deepEqual(of(now - minute), later(14 * minute))
  })

  test('without a hold, it waits until no other prompt has joined for 5 minutes, but no longer than an hour', () => {
    const joined = falls.map((fall, i) => ({ ...fall, foundAt: now - (i + 1) * minute }))
    const unheld = { holdMs: 0 }
    assert.deepEqual(of(now - 30 * minute, [], unheld, joined), later(4 * minute))
    assert.deepEqual(of(now - 58 * minute, [], unheld, joined), later(2 * minute))
    assert.deepEqual(of(now - hour, [], unheld, joined), queued('shift.unexplained', []))
    assert.deepEqual(of(now - 30 * minute, [], unheld, falls), queued('shift.unexplained', []))
  })

  test('it is told once, also when more prompts fall', () => {
    const told = delivery({ event: 'shift.unexplained', ids: [] })
    assert.deepEqual(of(now - hour, [told]), nothing)
    assert.deepEqual(of(now - hour, [{ ...told, state: 'failed' }]), nothing)
  })

  test('it is not told if it was explained meanwhile, to a filter that leaves it out, or when it is old', () => {
    assert.deepEqual(of(now - hour, [], {}, []), later(5 * minute))
    assert.deepEqual(of(now - hour, [], { prompts: 'sales/*' }), later(5 * minute))
    assert.deepEqual(of(now - 15 * day), nothing)
    assert.deepEqual(of(now - hour, [], { createdAt: now }), nothing)
    assert.deepEqual(
      of(now - hour, [], { createdAt: now - 90 * minute }),
      later(5 * minute),
      'it was found before the alert existed',
    )
    assert.deepEqual(of(now - hour, [], { events: ['limit.near'] }), nothing)
  })
})

describe('Telling of the monthly limit', () => {
  test('it is told at once, and once', () => {
    assert.deepEqual(tellOfLimit('limit.near', now, listener, []), queued('limit.near', []))
    assert.deepEqual(tellOfLimit('limit.near', now, listener, [delivery({ event: 'limit.near' })]), nothing)
    assert.deepEqual(tellOfLimit('limit.near', now, { ...listener, events: ['limit.reached'] }, []), nothing)
    assert.deepEqual(tellOfLimit('limit.near', now, { ...listener, createdAt: now + 1 }, []), nothing)
  })
})

describe('Telling of a trial', () => {
  const prompts = [{ name: 'support/greeting', path: null }]
  const pagerDuty: Listener = { ...listener, channel: 'pagerduty', events: ['trial.worse'], recoveryHoldMs: hour }
  const worse = (endedAt: number | null, who: Listener, earlier: EarlierDelivery[], at = now) =>
    tellOfTrial('trial.worse', { openedAt: now, endedAt, prompts }, who, earlier, at)
  const told = delivery({ event: 'trial.worse' })

  test('an event is told at once, and once', () => {
    assert.deepEqual(worse(now, listener, []), queued('trial.worse', []))
    assert.deepEqual(worse(now, listener, [told], now + day), nothing)
    assert.deepEqual(worse(now, { ...listener, events: ['trial.better'] }, []), nothing)
    assert.deepEqual(worse(now, { ...listener, prompts: 'sales/**' }, []), nothing)
  })

  test('its incident in PagerDuty is resolved after the end, whatever the alert includes', () => {
    assert.deepEqual(worse(now, pagerDuty, []), { ...queued('trial.worse', []), dueAt: now + hour })
    assert.deepEqual(worse(now, pagerDuty, [told], now + hour - 1), { ...nothing, dueAt: now + hour })
    assert.deepEqual(worse(now, pagerDuty, [told], now + hour), queued('trial.stopped', []))
    assert.deepEqual(worse(now, pagerDuty, [told, delivery({ event: 'trial.stopped' })], now + day), nothing)
    assert.deepEqual(worse(null, pagerDuty, [told], now + day), nothing)
  })
})
