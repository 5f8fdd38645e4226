import type {
  AddedAlertBody,
  AlertBody,
  AlertDeliveryBody,
  AlertUpdateBody,
  NewAlertBody,
  RotatedAlertSecretBody,
  TestedAlertBody,
} from '../../../../contract/alerts.ts'
import type { Alert, AlertRules } from '../../domain/alerts/alert.ts'
import {
  type AddedAlert,
  type AlertUpdate,
  alertState,
  type RotatedAlertSecret,
  type TestedAlert,
} from '../../domain/alerts/alert-service.ts'
import type { ListedAlertDelivery } from '../../domain/alerts/delivery.ts'
import type { Message, ToldPrompt } from '../../domain/alerts/message.ts'
import { defaultRules } from '../../domain/alerts/rules.ts'
import { hour, isoTime, minute, timeOrNull } from '../../domain/time.ts'

export function toAlertBody(alert: Alert, lastDelivery: ListedAlertDelivery | null): AlertBody {
  return {
    id: alert.publicId,
    name: alert.name,
    channel: alert.channel,
    target_hint: alert.hint,
    has_slack_token: alert.channel === 'slack' && alert.sealedSecret !== null,
    prompts: alert.prompts,
    events: alert.events,
    hold_minutes: alert.holdMs / minute,
    min_signals: alert.minSignals,
    recovery_hold_minutes: alert.recoveryHoldMs / minute,
    repeat_hours: alert.repeatMs === null ? null : alert.repeatMs / hour,
    signals: alert.signals,
    state: alertState(alert),
    disabled_at: timeOrNull(alert.disabledAt),
    disabled_reason: alert.disabledReason,
    old_secret_until: timeOrNull(alert.oldSecretUntil),
    created_at: isoTime(alert.createdAt),
    last_delivery: lastDelivery && toAlertDeliveryBody(lastDelivery),
  }
}

/** The only response with the signing secret. */
export function toAddedAlertBody({ alert, secret }: AddedAlert): AddedAlertBody {
  return { ...toAlertBody(alert, null), secret }
}

export function toRotatedAlertSecretBody({ secret, oldSecretUntil }: RotatedAlertSecret): RotatedAlertSecretBody {
  return { secret, old_secret_until: isoTime(oldSecretUntil) }
}

export function toTestedAlertBody({
  id,
  outcome,
  status,
  response,
  error,
  milliseconds,
}: TestedAlert): TestedAlertBody {
  return { id, sent: outcome === 'sent', status, response, error, milliseconds }
}

export function requestedRules(body: NewAlertBody): AlertRules {
  const { name, prompts = defaultRules.prompts, events = defaultRules.events, repeat_hours: repeatHours } = body
  const { hold_minutes: holdMinutes, min_signals: minSignals = defaultRules.minSignals } = body
  const { recovery_hold_minutes: recoveryMinutes } = body
  return {
    name,
    prompts,
    events: [...events],
    holdMs: holdMinutes === undefined ? defaultRules.holdMs : holdMinutes * minute,
    minSignals,
    recoveryHoldMs: recoveryMinutes === undefined ? defaultRules.recoveryHoldMs : recoveryMinutes * minute,
    repeatMs: repeatHours == null ? null : repeatHours * hour,
    signals: body.signals ?? defaultRules.signals,
  }
}

export function requestedUpdate(body: AlertUpdateBody): AlertUpdate {
  const { hold_minutes: hold, recovery_hold_minutes: recovery, repeat_hours: repeat } = body
  return {
    name: body.name,
    prompts: body.prompts,
    events: body.events && [...body.events],
    holdMs: hold === undefined ? undefined : hold * minute,
    minSignals: body.min_signals,
    recoveryHoldMs: recovery === undefined ? undefined : recovery * minute,
    repeatMs: repeat == null ? repeat : repeat * hour,
    signals: body.signals,
    target: body.target,
    slackToken: body.slack_token,
    state: body.state,
  }
}

export function toAlertDeliveryBody(delivery: ListedAlertDelivery): AlertDeliveryBody {
  const { alert, state } = delivery
  return {
    id: delivery.publicId,
    destination: destinationOf(delivery),
    alert: alert && { id: alert.publicId, name: alert.name, channel: alert.channel },
    event: delivery.event,
    prompts: promptsOf(delivery.message),
    state,
    attempts: delivery.attempts,
    status: delivery.status,
    response: delivery.response,
    error: delivery.error,
    created_at: isoTime(delivery.createdAt),
    next_attempt_at: state === 'pending' ? isoTime(delivery.dueAt) : null,
    finished_at: timeOrNull(delivery.finishedAt),
  }
}

export function destinationOf({ alertId }: Pick<ListedAlertDelivery, 'alertId'>): AlertDeliveryBody['destination'] {
  return alertId === null ? 'pull_request' : 'alert'
}

const maxPrompts = 10

function promptsOf(message: Message): AlertDeliveryBody['prompts'] {
  if (!('prompts' in message)) return []
  return message.prompts.slice(0, maxPrompts).map((told) => ({
    id: told.prompt.publicId,
    name: told.prompt.name,
    regression_id: 'regressionId' in told ? (told as ToldPrompt).regressionId : null,
  }))
}
