import type { Alert, AlertEvent, Channel } from '@promptledger/client'
import { targetFields } from './channels.ts'
import { defaultEvents } from './events.ts'

/** What the form edits. Numbers are text while they are typed. */
export interface AlertForm {
  name: string
  target: string
  slackToken: string
  prompts: string
  events: AlertEvent[]
  hold: string
  minSignals: string
  recoveryHold: string
  repeat: string
  signals: boolean
}

export const newForm: AlertForm = {
  name: '',
  target: '',
  slackToken: '',
  prompts: '**',
  events: defaultEvents,
  hold: '15',
  minSignals: '50',
  recoveryHold: '15',
  repeat: '',
  signals: false,
}

export function formOf(alert: Alert): AlertForm {
  return {
    name: alert.name,
    target: '',
    slackToken: '',
    prompts: alert.prompts,
    events: alert.events,
    hold: String(alert.hold_minutes),
    minSignals: String(alert.min_signals),
    recoveryHold: String(alert.recovery_hold_minutes),
    repeat: alert.repeat_hours === null ? '' : String(alert.repeat_hours),
    signals: alert.signals,
  }
}

/** The form as the API expects it, without the target. Without a token, the current one stays. */
export function rulesOf(form: AlertForm) {
  const token = form.slackToken.trim()
  return {
    ...(token !== '' && { slack_token: token }),
    name: form.name.trim(),
    prompts: form.prompts.trim() || '**',
    events: form.events,
    hold_minutes: Number(form.hold),
    min_signals: Number(form.minSignals),
    recovery_hold_minutes: Number(form.recoveryHold),
    repeat_hours: form.repeat.trim() === '' ? null : Number(form.repeat),
    signals: form.signals,
  }
}

export const labels = {
  name: 'Name',
  channel: 'Channel',
  slack_token: 'Bot token',
  prompts: 'Prompts',
  events: 'Events',
  hold_minutes: 'Wait before telling (minutes)',
  min_signals: 'Signals needed',
  recovery_hold_minutes: 'Wait before telling of a recovery (minutes)',
  repeat_hours: 'Repeat every (hours)',
  signals: 'Every signal',
}

export function labelsFor(channel: Channel): Record<string, string> {
  return { ...labels, target: targetFields[channel].label }
}
