import type { SignalEvent } from '../domain/alerts/signal-event.ts'
import { signalText } from '../domain/signals/signal-text.ts'
import { isoTime } from '../domain/time.ts'

/** The event as a CloudEvent, with the signal as the API returns it. Null if retention has removed the signal meanwhile. */
export function signalEventText(
  { id, kind, at, signalId, prompt, signal }: SignalEvent,
  publicUrl: string,
): string | null {
  if (signal === null && (kind === 'recorded' || kind === 'replaced')) return null
  const attributes = {
    specversion: '1.0',
    id,
    source: publicUrl,
    type: `dev.promptledger.signal.${kind}`,
    time: isoTime(at),
    subject: prompt.publicId,
    datacontenttype: 'application/json',
  }
  const data = { prompt: { id: prompt.publicId, name: prompt.name } }
  // Joined by hand, because metadata is JSON text that must arrive exactly as it was sent.
  const text = signal === null ? `{"id":${signalId}}` : signalText(signal)
  return `${JSON.stringify(attributes).slice(0, -1)},"data":${JSON.stringify(data).slice(0, -1)},"signal":${text}}}`
}
