export interface Person {
  name: string
  email: string
  /** The user name on the forge. */
  login: string
}

/** The authors in the data files, by first name. */
export const people = {
  ines: { name: 'Inès Moreau', email: 'ines@acme.example', login: 'ines-moreau' },
  tomasz: { name: 'Tomasz Zieliński', email: 'tomasz@acme.example', login: 'tzielinski' },
  priya: { name: 'Priya Nair', email: 'priya@acme.example', login: 'priyanair' },
  jonas: { name: 'Jonas Weber', email: 'jonas@acme.example', login: 'jweber' },
  aisha: { name: 'Aisha Bello', email: 'aisha@acme.example', login: 'aishab' },
} as const satisfies Record<string, Person>

/** The person who merges or closes the author's pull requests. */
export function reviewerOf(author: Person): Person {
  return author === people.priya ? people.jonas : people.priya
}

/** What can happen to a change: a push to the default branch, or a pull request that is merged, squashed or closed. */
export const stepKinds = ['pushed', 'opened', 'merged', 'squashed', 'closed'] as const

export type StepKind = (typeof stepKinds)[number]

/** A time in the week of the change, in UTC, such as `Tue 14:20`. */
export type WeekTime = `${'Mon' | 'Tue' | 'Wed' | 'Thu' | 'Fri'} ${number}:${number}`

interface TextEdit {
  from: string
  to: string
}

/** A change of a prompt, with the time of each step it went through. */
export interface Change extends Partial<Record<StepKind, WeekTime>> {
  weeksAgo: number
  author: Person
  title: string
  /** The rest of the commit message. */
  why?: string
  /** Applied in order. */
  edits: TextEdit[]
  /** The share of positive signals from this change on; unchanged if absent. */
  rate?: number
  /** The part of the traffic that it gets as a canary, beside the version before it. Only for the last change of a prompt. */
  canary?: number
  /** Comments of dissatisfied users from this change on; unchanged if absent. */
  complaints?: string[]
}

/** Something outside of the prompt that moved its rate, such as another model. */
export interface Incident {
  weeksAgo: number
  at: WeekTime
  /** The share of positive signals from then on, until a change has one. */
  rate: number
}

export interface DemoPrompt {
  path: string
  signalsPerYear: number
  incidents: Incident[]
  /** The text of the first version. */
  text: string
  /** Oldest first. */
  changes: Change[]
}

export function applyEdits(text: string, { title, edits }: Change): string {
  return edits.reduce((edited, { from, to }) => {
    if (edited.split(from).length !== 2) throw new Error(`${title}: the text must contain this exactly once: ${from}`)
    return edited.replace(from, () => to)
  }, text)
}
