import type { Actor } from '../access/audit.ts'
import { DomainError } from '../errors.ts'
import type { Vault } from '../repositories/vault.ts'
import type { Clock } from '../time.ts'
import {
  generateSourceId,
  generateSourceSecret,
  hasOwnSecret,
  type Source,
  type SourceSettings,
  type SourceStore,
  sourcePlace,
  validSettings,
  validSourceName,
  validSourceSecret,
} from './source.ts'

interface RequestedSource extends Pick<Source, 'organisationId' | 'name' | 'adapter' | 'settings'> {
  /** The secret of products that generate one. They show it when they know the URL, so it may come later. */
  secret: string | null
}

/** What to change about a source. Undefined keeps the current value. */
export interface SourceUpdate {
  name?: string | undefined
  settings?: Partial<SourceSettings> | undefined
  secret?: string | undefined
}

/** The use cases of sources, shared by the HTTP API and the CLI. */
export interface SourceContext {
  sources: SourceStore
  vault: Vault
  clock: Clock
}

export interface AddedSource {
  source: Source
  /** The secret that we generated, which is not shown again. Null if the product generates it. */
  secret: string | null
}

export async function addSource(
  { sources, vault, clock }: SourceContext,
  { organisationId, name, adapter, settings, secret }: RequestedSource,
  by: Actor,
): Promise<AddedSource> {
  const publicId = generateSourceId()
  const given = secret === null ? null : validSourceSecret(secret)
  const generated = given === null && !hasOwnSecret(adapter) ? generateSourceSecret() : null
  const known = given ?? generated
  const source = await sources.add(
    {
      organisationId,
      publicId,
      name: validSourceName(name),
      adapter,
      settings: validSettings(adapter, settings),
      sealedSecret: known === null ? null : vault.encrypt(known, sourcePlace({ publicId })),
      createdAt: clock(),
      pollAt: adapter === 'langfuse' ? clock() : null,
    },
    by,
  )
  return { source, secret: generated }
}

export async function updateSource(
  { sources, vault, clock }: SourceContext,
  source: Source,
  { name, settings, secret }: SourceUpdate,
  by: Actor,
): Promise<Source> {
  const isElsewhere = settings?.baseUrl !== undefined && settings.baseUrl !== source.settings.baseUrl
  // Otherwise an admin could read a secret that another one set, by having it sent to a host of their own.
  if (isElsewhere && secret === undefined && source.sealedSecret !== null) {
    throw new DomainError('validation_error', 'Set the secret again together with another base URL.')
  }
  const changes = {
    name: name === undefined ? source.name : validSourceName(name),
    settings: validSettings(source.adapter, { ...source.settings, ...settings }),
    sealedSecret:
      secret === undefined ? source.sealedSecret : vault.encrypt(validSourceSecret(secret), sourcePlace(source)),
  }
  const updated = await sources.update(source, changes, clock(), by)
  if (updated === null) throw new DomainError('not_found', 'The source was removed meanwhile.')
  return updated
}
