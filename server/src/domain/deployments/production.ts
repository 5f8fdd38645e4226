import { invalidField } from '../errors.ts'
import { matchesGlob, validGlob } from '../glob.ts'

const defaultNames = new Set(['production', 'prod', 'live'])
const maxPatterns = 20

/**
 * Whether deployments to the environment decide what is live. `patterns` is the repository's setting: globs, or null for the
 * default, which is what the forge calls production and the usual names.
 */
export function isProduction(
  patterns: string[] | null,
  { environment, flagged }: { environment: string; flagged: boolean | null },
): boolean {
  if (patterns === null) return flagged === true || defaultNames.has(environment.toLowerCase())
  return patterns.some((pattern) => matchesGlob(pattern, environment))
}

/** The globs of the production environments; null for the default. An empty list means that merges decide what is live. */
export function validProductionEnvironments(patterns: string[] | null): string[] | null {
  if (patterns === null) return null
  if (patterns.length > maxPatterns)
    throw invalidField('productionEnvironments', `must have at most ${maxPatterns} items`)
  return [...new Set(patterns.map((pattern) => validGlob('productionEnvironments', pattern)))]
}
