import { day, hour, type Instant, minute } from '../domain/time.ts'
import { type Change, type DemoPrompt, type StepKind, stepKinds, type WeekTime } from './change.ts'

/** A step of a change at its point in time. */
interface Step {
  at: Instant
  kind: StepKind
  prompt: DemoPrompt
  change: Change
}

/** A change at the time it went live. */
export interface Landing {
  at: Instant
  change: Change
}

export const week = 7 * day

const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri']
const firstMonday = Date.UTC(1970, 0, 5)

/** The Monday of the current week. All times are relative to it, so that the demo looks the same on any day. */
export function mondayOf(now: Instant): Instant {
  return now - ((now - firstMonday) % week)
}

/** The steps of all prompts, oldest first. */
export function timeline(prompts: DemoPrompt[], now: Instant): Step[] {
  return prompts
    .flatMap((prompt) =>
      prompt.changes.flatMap((change) =>
        stepKinds.flatMap((kind) => {
          const time = change[kind]
          return time === undefined ? [] : [{ at: instantOf(change, time, now), kind, prompt, change }]
        }),
      ),
    )
    .sort((a, b) => a.at - b.at)
}

/** The changes of a prompt that went live, oldest first. */
export function landings(prompt: DemoPrompt, now: Instant): Landing[] {
  return timeline([prompt], now).filter(({ kind }) => kind !== 'opened' && kind !== 'closed')
}

/** When something happened to the shop, by the same calendar as its changes. */
export function instantOf({ weeksAgo }: Pick<Change, 'weeksAgo'>, time: WeekTime, now: Instant): Instant {
  const [weekday = '', hours, minutes] = time.split(/[ :]/)
  const sinceMonday = weekdays.indexOf(weekday) * day + Number(hours) * hour + Number(minutes) * minute
  return mondayOf(now) - weeksAgo * week + sinceMonday
}
