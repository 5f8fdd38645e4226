import { readFileSync } from 'node:fs'
import { demoPromptsFolder } from '../files.ts'
import { type Change, type DemoPrompt, type Incident, people } from './change.ts'

/** The content of a file in prompts/. Authors are given by their first name. */
interface PromptData {
  signalsPerYear: number
  incidents?: Incident[]
  changes: (Omit<Change, 'author'> & { author: keyof typeof people })[]
}

const names = [
  // One change helps. Another hurts, and is reverted.
  'support-reply',
  // The rate falls although nothing changes, two weeks after a change that is not blamed for it. The last change makes it better.
  'summarise-ticket',
  // The last change hurts, and is still live.
  'delivery-status',
  // Has too few signals for a verdict on most changes.
  'product-search',
]

/** Reads the demo's prompts: the first text of each from a .md file, its changes and signals from a .json file. */
export function readDemoPrompts(): DemoPrompt[] {
  return names.map((name) => {
    const { signalsPerYear, incidents = [], changes }: PromptData = JSON.parse(read(`${name}.json`))
    return {
      path: `prompts/${name}.md`,
      signalsPerYear,
      incidents,
      text: read(`${name}.md`),
      changes: changes.map((change) => ({ ...change, author: people[change.author] })),
    }
  })
}

function read(file: string): string {
  return readFileSync(new URL(file, demoPromptsFolder), 'utf8')
}
