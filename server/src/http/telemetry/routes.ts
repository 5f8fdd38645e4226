import type { FastifyInstance } from 'fastify'
import { type NewEvaluationRulesBody, operations, type TelemetryOutcomeBody } from '../../../../contract/telemetry.ts'
import { DomainError } from '../../domain/errors.ts'
import { validEvaluationRules } from '../../domain/telemetry/evaluation-rule.ts'
import type { StoredOutcome } from '../../domain/telemetry/telemetry.ts'
import { isoTime } from '../../domain/time.ts'
import type { Context } from '../context.ts'
import { route } from '../route.ts'

/** What arrives from OpenTelemetry exporters, and how it is read. */
export function telemetryRoutes(app: FastifyInstance, { store, clock }: Context): void {
  route(app, operations.listTelemetry, async ({ access }) => {
    // The names are those of any prompt.
    if (access.prompts !== null) throw new DomainError('forbidden', 'Keys that are limited to prompts cannot see this.')
    return { data: { outcomes: (await store.telemetry.outcomes(access.organisationId)).map(toBody) } }
  })

  route(app, operations.getEvaluationRules, async ({ access }) => ({
    data: { rules: await store.telemetry.rules(access.organisationId) },
  }))

  route(app, operations.setEvaluationRules, async ({ access, body }) => {
    const rules = validEvaluationRules(
      (body as NewEvaluationRulesBody).rules.map(({ name, source, threshold }) => ({ name, source, threshold })),
    )
    await store.telemetry.setRules(access.organisationId, rules, clock(), access)
    return { data: { rules } }
  })
}

function toBody({ kind, outcome, detail, records, firstAt, lastAt }: StoredOutcome): TelemetryOutcomeBody {
  return { kind, outcome, detail: detail || null, records, first_at: isoTime(firstAt), last_at: isoTime(lastAt) }
}
