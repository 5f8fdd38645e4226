import type { Actor } from '../access/audit.ts'
import { invalidField } from '../errors.ts'
import { maxLabelLength } from '../signals/version.ts'
import { validLine } from '../text.ts'
import type { Instant } from '../time.ts'

/** Who says how good an output was. Verdicts count people only. */
export const evaluationSources = ['people', 'judge'] as const

export type EvaluationSource = (typeof evaluationSources)[number]

/** How evaluations of one name are read. */
export interface EvaluationRule {
  name: string
  /** Null if each event says it itself. */
  source: EvaluationSource | null
  /** Scores from here on are positive. Null if only labels count. */
  threshold: number | null
}

export interface EvaluationRuleStore {
  rules(organisationId: number): Promise<EvaluationRule[]>
  setRules(organisationId: number, rules: EvaluationRule[], at: Instant, by: Actor): Promise<void>
}

export const maxEvaluationRules = 100

export function validEvaluationRules(rules: EvaluationRule[]): EvaluationRule[] {
  if (rules.length > maxEvaluationRules) throw invalidField('rules', `must have at most ${maxEvaluationRules} items`)
  const names = new Set(rules.map(({ name }) => validLine('rules.name', name, maxLabelLength)))
  if (names.size < rules.length) throw invalidField('rules.name', 'must not occur twice')
  return rules
}
