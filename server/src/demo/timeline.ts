import type { Instant } from '../domain/time.ts'
import { type Change, type DemoPrompt, type Moment, type StepKind, stepKinds } from './change.ts'

/** Something that happened to a change. */
export interface Step {
  at: Instant
  kind: StepKind
  prompt: DemoPrompt
  change: Change
}

/** A change from when it went live. */
export interface Landing {
  at: Instant
  change: Change
}

export const minute = 60_000
export const hour = 60 * minute
export const day = 24 * hour
export const week = 7 * day

const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri']
const firstMonday = Date.UTC(1970, 0, 5)

/** Everything hangs on the Monday of this week, so that the demonstration is the same whenever it is started. */
export function mondayOf(now: Instant): Instant {
  return now - ((now - firstMonday) % week)
}

/** All that happened to all prompts, in order. */
export function timeline(prompts: DemoPrompt[], now: Instant): Step[] {
  return prompts
    .flatMap((prompt) =>
      prompt.changes.flatMap((change) =>
        stepKinds.flatMap((kind) => {
          const moment = change[kind]
          return moment === undefined ? [] : [{ at: instantOf(change, moment, now), kind, prompt, change }]
        }),
      ),
    )
    .sort((a, b) => a.at - b.at)
}

/** The changes of a prompt that went live, in order. */
export function landings(prompt: DemoPrompt, now: Instant): Landing[] {
  return timeline([prompt], now).filter(({ kind }) => kind !== 'opened' && kind !== 'closed')
}

function instantOf({ weeksAgo }: Change, moment: Moment, now: Instant): Instant {
  const [weekday = '', hours, minutes] = moment.split(/[ :]/)
  const time = weekdays.indexOf(weekday) * day + Number(hours) * hour + Number(minutes) * minute
  return mondayOf(now) - weeksAgo * week + time
}
