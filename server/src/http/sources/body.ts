import type { AddedSourceBody, NewSourceBody, SourceBody, SourceUpdateBody } from '../../../../contract/sources.ts'
import type { AddedSource, SourceUpdate } from '../../domain/sources/manage-source.ts'
import { noSettings, type Source, type SourceSettings } from '../../domain/sources/source.ts'
import { isoTime, timeOrNull } from '../../domain/time.ts'

export function toSourceBody(source: Source, publicUrl: string): SourceBody {
  const { publicId, name, adapter, settings, counts } = source
  return {
    id: publicId,
    name,
    prompt: settings.prompt,
    fields: settings.fields,
    positive_values: settings.positive,
    negative_values: settings.negative,
    midpoint: settings.midpoint,
    base_url: settings.baseUrl,
    score: settings.score,
    adapter,
    url: `${publicUrl}/api/v1/sources/${publicId}/events`,
    has_secret: source.sealedSecret !== null,
    created_at: isoTime(source.createdAt),
    received: counts.received,
    recorded: counts.recorded,
    rejected: counts.rejected,
    last_received_at: timeOrNull(counts.lastReceivedAt),
    last_recorded_at: timeOrNull(counts.lastRecordedAt),
    last_rejected_at: timeOrNull(counts.lastRejectedAt),
    last_rejection: counts.lastRejection,
  }
}

/** The only response with the secret. */
export function toAddedSourceBody({ source, secret }: AddedSource, publicUrl: string): AddedSourceBody {
  return { ...toSourceBody(source, publicUrl), secret }
}

export function requestedSettings(body: NewSourceBody): SourceSettings {
  return { ...noSettings, ...givenSettings(body) }
}

export function requestedUpdate(body: SourceUpdateBody): SourceUpdate {
  return { name: body.name, secret: body.secret, settings: givenSettings(body) }
}

function givenSettings(body: SourceUpdateBody): Partial<SourceSettings> {
  const { prompt, fields, positive_values: positive, negative_values: negative, midpoint, score } = body
  const given = { prompt, fields, positive, negative, midpoint, score, baseUrl: body.base_url }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}
