import type { Person } from './people.ts'

/** What can happen to a change: pushed to the default branch, or proposed and then merged in one way or another, or not. */
export const stepKinds = ['pushed', 'opened', 'merged', 'squashed', 'closed'] as const

export type StepKind = (typeof stepKinds)[number]

/** A time of a week, UTC, such as `Tue 14:20`. */
export type Moment = `${'Mon' | 'Tue' | 'Wed' | 'Thu' | 'Fri'} ${number}:${number}`

/** A change of a prompt, with the moment of each thing that happened to it. */
export interface Change extends Partial<Record<StepKind, Moment>> {
  weeksAgo: number
  author: Person
  title: string
  /** The rest of the commit message. */
  why?: string
  /** What is put in the place of what, one after the other. */
  edits: [from: string, to: string][]
  /** The part of the signals that is positive from here on, where that changes. */
  rate?: number
  /** What some of those say who do not like it, from here on. */
  complaints?: string[]
}

export interface DemoPrompt {
  path: string
  signalsPerYear: number
  /** The text that its first change brings. */
  text: string
  /** In order. */
  changes: Change[]
}

/** The text after a change. */
export function edited(text: string, { title, edits }: Change): string {
  return edits.reduce((before, [from, to]) => {
    if (before.split(from).length !== 2) throw new Error(`${title}: this must stand in the text once: ${from}`)
    return before.replace(from, () => to)
  }, text)
}
