import { invalidField } from '../errors.ts'
import { validGlob } from '../glob.ts'
import { validName } from '../text.ts'
import { day, hour } from '../time.ts'
import type { AlertRules, Channel } from './alert.ts'
import { defaultHold } from './certainty.ts'
import { type AlertEvent, alertEvents, defaultEvents } from './event.ts'

export const defaultRules: Omit<AlertRules, 'name'> = {
  prompts: '**',
  events: [...defaultEvents],
  ...defaultHold,
  recoveryHoldMs: defaultHold.holdMs,
  repeatMs: null,
  signals: false,
}

const maxNameLength = 200

export const ruleLimits = {
  holdMs: 7 * day,
  minSignals: 1_000_000,
  repeatMs: { min: hour, max: 30 * day },
}

/** Fields that are wrong are named as in `AlertRules`, except for durations, which the API and the CLI each give in their own unit. */
export function validRules(channel: Channel, rules: AlertRules): AlertRules {
  const { holdMs, minSignals, recoveryHoldMs, repeatMs } = rules
  checkHold('hold', holdMs)
  checkHold('recoveryHold', recoveryHoldMs)
  if (!Number.isInteger(minSignals) || minSignals < 1 || minSignals > ruleLimits.minSignals)
    throw invalidField('minSignals', `must be a number from 1 to ${ruleLimits.minSignals}`)
  if (repeatMs !== null && (repeatMs < ruleLimits.repeatMs.min || repeatMs > ruleLimits.repeatMs.max))
    throw invalidField('repeat', 'must be from 1 hour to 30 days')
  // In the order of the list, each once.
  const events = alertEvents.filter((event) => rules.events.includes(event) && isTakenBy(channel, event))
  if (channel === 'linear' && !events.includes('regression.opened')) {
    throw invalidField('events', 'must contain regression.opened: Linear gets an issue for each regression')
  }
  if (rules.signals && channel !== 'cloudevents') throw invalidField('signals', 'is only for the channel cloudevents')
  if (events.length === 0 && !rules.signals) throw invalidField('events', 'must contain at least one event')
  if (channel === 'pagerduty' && events.includes('digest.weekly')) {
    throw invalidField('events', 'must not contain digest.weekly: PagerDuty would page a person every Monday')
  }
  return {
    ...rules,
    name: validName('name', rules.name, maxNameLength),
    prompts: validGlob('prompts', rules.prompts),
    events,
  }
}

/** Linear gets no other events, though the default has them: nothing would close these issues. */
function isTakenBy(channel: Channel, event: AlertEvent): boolean {
  return channel !== 'linear' || event.startsWith('regression.')
}

function checkHold(field: string, holdMs: number): void {
  if (holdMs < 0 || holdMs > ruleLimits.holdMs) throw invalidField(field, 'must be from 0 minutes to 7 days')
}
