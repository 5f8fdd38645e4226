import type { AlertEvent, Channel } from '@promptledger/client'
import type { ReactNode } from 'react'
import { Checkbox, LineField, NameField, NumberField } from '../ui/field.tsx'
import { type AlertForm, labels } from './alert-form.ts'
import { targetFields } from './channels.ts'
import { alertEvents, eventLabels } from './events.ts'

interface Props {
  channel: Channel
  form: AlertForm
  onChange: (changes: Partial<AlertForm>) => void
  /** Whether the alert exists already, so that an empty target keeps the current one. */
  isEdit: boolean
  /** Between the name and the target. */
  children?: ReactNode
}

/** The fields that adding and editing an alert share. */
export function AlertFields({ channel, form, onChange, isEdit, children }: Props) {
  const target = targetFields[channel]
  return (
    <>
      <NameField
        label={labels.name}
        hint="Who is told, such as the name of a team or a Slack channel."
        value={form.name}
        onChange={(name) => onChange({ name })}
      />
      {children}
      <LineField
        label={target.label}
        hint={isEdit ? `${target.hint} Leave it empty to keep the current one.` : target.hint}
        type={target.isSecret ? 'password' : 'text'}
        required={!isEdit}
        placeholder={isEdit ? '' : target.placeholder}
        value={form.target}
        onChange={(text) => onChange({ target: text })}
      />
      {channel === 'slack' && (
        <LineField
          label={labels.slack_token}
          hint={`Optional, to mention the owner: starts with xoxb-, with the scope users:read.email.${isEdit ? ' Leave it empty to keep the current one.' : ''}`}
          type="password"
          value={form.slackToken}
          onChange={(slackToken) => onChange({ slackToken })}
        />
      )}
      <LineField
        label={labels.prompts}
        hint={
          <>
            A pattern for names or paths of prompts, such as <code>prompts/support/**</code>. <code>**</code> for all.
          </>
        }
        value={form.prompts}
        onChange={(prompts) => onChange({ prompts })}
      />
      <EventField events={form.events} onChange={(events) => onChange({ events })}>
        {channel === 'cloudevents' && (
          <Checkbox checked={form.signals} onChange={(signals) => onChange({ signals })}>
            {labels.signals}, in batches
          </Checkbox>
        )}
      </EventField>
      <details className="form-advanced">
        <summary>How certain it must be</summary>
        <div className="form">
          <NumberField
            label={labels.hold_minutes}
            hint="A regression has to last this long before anyone is told."
            min={0}
            max={10_080}
            value={form.hold}
            onChange={(hold) => onChange({ hold })}
          />
          <NumberField
            label={labels.min_signals}
            hint="Signals on the change, before anyone is told about its regression."
            min={1}
            max={1_000_000}
            value={form.minSignals}
            onChange={(minSignals) => onChange({ minSignals })}
          />
          <NumberField
            label={labels.recovery_hold_minutes}
            hint="A recovery has to last this long."
            min={0}
            max={10_080}
            value={form.recoveryHold}
            onChange={(recoveryHold) => onChange({ recoveryHold })}
          />
          <NumberField
            label={labels.repeat_hours}
            hint="While a regression stays open. Empty to tell once."
            min={1}
            max={720}
            required={false}
            value={form.repeat}
            onChange={(repeat) => onChange({ repeat })}
          />
        </div>
      </details>
    </>
  )
}

interface EventProps {
  events: AlertEvent[]
  onChange: (events: AlertEvent[]) => void
  children: ReactNode
}

function EventField({ events, onChange, children }: EventProps) {
  return (
    <fieldset className="event-field">
      <legend>{labels.events}</legend>
      {alertEvents.map((event) => (
        <Checkbox
          key={event}
          checked={events.includes(event)}
          onChange={(isChecked) =>
            onChange(alertEvents.filter((each) => (each === event ? isChecked : events.includes(each))))
          }
        >
          {eventLabels[event]}
        </Checkbox>
      ))}
      {children}
    </fieldset>
  )
}
