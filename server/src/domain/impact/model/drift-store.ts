import type { Prompt } from '../../prompt.ts'
import type { Instant } from '../../time.ts'
import { gridSize } from './drift.ts'

/** What one prompt tells about drift: the log-likelihood of its votes at each point of the grid. */
export interface PromptDrift {
  promptId: number
  logLikelihood: Readonly<Float64Array>
}

export interface DriftStore {
  save(prompt: Prompt, logLikelihood: Readonly<Float64Array>, at: Instant): Promise<void>
  /** Of the prompts that were judged last, up to `limit`. */
  ofOrganisation(organisationId: number, limit: number): Promise<PromptDrift[]>
}

const bytesPerNumber = 4
const encodedLength = Math.ceil((gridSize * bytesPerNumber) / 3) * 4

/** Relative to the largest and in single precision: only differences matter, and those of less than 0.001 do not. */
export function encodeLikelihood(logLikelihood: Readonly<Float64Array>): string {
  const max = Math.max(...logLikelihood)
  const bytes = Buffer.alloc(gridSize * bytesPerNumber)
  for (let g = 0; g < gridSize; g++) bytes.writeFloatLE((logLikelihood[g] as number) - max, g * bytesPerNumber)
  return bytes.toString('base64')
}

/** Null if the text does not encode one finite number for each point of the grid. */
export function decodeLikelihood(text: string): Float64Array | null {
  if (text.length !== encodedLength) return null
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length !== gridSize * bytesPerNumber) return null
  const logLikelihood = Float64Array.from({ length: gridSize }, (_, g) => bytes.readFloatLE(g * bytesPerNumber))
  return logLikelihood.every((log) => Number.isFinite(log) && log <= 0) ? logLikelihood : null
}
