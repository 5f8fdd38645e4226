// Compiling this file is the test: the client's types, written by hand for people to read, are those of the server's
// schemas, field by field and in both directions.
import type { FromSchema, JSONSchema } from 'json-schema-to-ts'
import type { auditPageSchema, auditQuerySchema } from '../../server/src/http/audit/schema.ts'
import type { errorBodySchema } from '../../server/src/http/error-schema.ts'
import type {
  entryDetailsSchema,
  historyPageSchema,
  liveQuerySchema,
  liveSchema,
  newHistoryEntrySchema,
  recordedEntrySchema,
} from '../../server/src/http/history/schema.ts'
import type { impactSchema, timelineQuerySchema, timelineSchema } from '../../server/src/http/impact/schema.ts'
import type { issuedKeySchema, keyPageSchema, newKeySchema, rotationSchema } from '../../server/src/http/keys/schema.ts'
import type { pageQuerySchema } from '../../server/src/http/page-schema.ts'
import type {
  onePromptSchema,
  promptNameSchema,
  promptPageSchema,
  promptQuerySchema,
} from '../../server/src/http/prompts/schema.ts'
import type {
  connectedSchema,
  deliveryPageSchema,
  newRepositorySchema,
  oneDeliverySchema,
  oneRepositorySchema,
  repositoryPageSchema,
  rotatedSecretSchema,
} from '../../server/src/http/repositories/schema.ts'
import type { sessionSchema } from '../../server/src/http/sessions/schema.ts'
import type {
  erasedSchema,
  erasureSchema,
  exportQuerySchema,
  newSignalSchema,
  signalPageSchema,
  signalQuerySchema,
  signalSchema,
  summaryQuerySchema,
  summarySchema,
} from '../../server/src/http/signals/schema.ts'
import type { usageSchema } from '../../server/src/http/usage/schema.ts'
import type * as client from '../src/index.ts'

type Wire<Schema extends JSONSchema> = FromSchema<Schema, { keepDefaultedPropertiesOptional: true }>

/** Without room for fields that the schema does not name. What names none at all, as metadata, is any object. */
type Named<T> = T extends readonly (infer Item)[]
  ? Named<Item>[]
  : T extends object
    ? [NameOf<T>] extends [never]
      ? Record<string, unknown>
      : { [Name in keyof T as Extract<Name, NameOf<T>>]: Named<T[Name]> }
    : T

type NameOf<T> = keyof { [Name in keyof T as string extends Name ? never : number extends Name ? never : Name]: true }

/** What a query says where it says something: times are text on the wire. */
type Said<Query> = { [Name in keyof Query]-?: Exclude<Query[Name], undefined | Date> }

type Same<One, Other> =
  (<T>() => T extends Named<One> ? 1 : 2) extends <T>() => T extends Named<Other> ? 1 : 2 ? true : false

type One<T> = { data: T }

type All<Facts extends Record<keyof Facts, true>> = Facts

export type Answers = All<{
  prompt: Same<One<client.Prompt>, Wire<typeof onePromptSchema>>
  prompts: Same<client.Page<client.Prompt>, Wire<typeof promptPageSchema>>
  history: Same<client.Page<client.HistoryEntry>, Wire<typeof historyPageSchema>>
  entry: Same<One<client.HistoryEntryDetails>, Wire<typeof entryDetailsSchema>>
  recorded: Same<One<client.HistoryEntry>, Wire<typeof recordedEntrySchema>>
  live: Same<One<client.Live>, Wire<typeof liveSchema>>
  signal: Same<One<client.RecordedSignal>, Wire<typeof signalSchema>>
  signals: Same<client.Page<client.Signal>, Wire<typeof signalPageSchema>>
  summary: Same<client.Summary, Wire<typeof summarySchema>>
  impact: Same<client.Page<client.ChangeImpact>, Wire<typeof impactSchema>>
  timeline: Same<client.Page<client.TimelineEntry>, Wire<typeof timelineSchema>>
  usage: Same<One<client.UsageReport>, Wire<typeof usageSchema>>
  keys: Same<client.Page<client.Key>, Wire<typeof keyPageSchema>>
  issued: Same<One<client.IssuedKey>, Wire<typeof issuedKeySchema>>
  repository: Same<One<client.Repository>, Wire<typeof oneRepositorySchema>>
  repositories: Same<client.Page<client.Repository>, Wire<typeof repositoryPageSchema>>
  connected: Same<One<client.ConnectedRepository>, Wire<typeof connectedSchema>>
  rotated: Same<One<client.RotatedSecret>, Wire<typeof rotatedSecretSchema>>
  delivery: Same<One<client.Delivery>, Wire<typeof oneDeliverySchema>>
  deliveries: Same<client.Page<client.Delivery>, Wire<typeof deliveryPageSchema>>
  erased: Same<One<client.Erased>, Wire<typeof erasedSchema>>
  audit: Same<client.Page<client.AuditEntry>, Wire<typeof auditPageSchema>>
  session: Same<One<client.SessionInfo>, Wire<typeof sessionSchema>>
  errorCode: Same<client.WireErrorCode, Wire<typeof errorBodySchema>['error']['code']>
}>

export type Bodies = All<{
  prompt: Same<client.PromptName, Wire<typeof promptNameSchema>>
  entry: Same<client.NewHistoryEntry, Wire<typeof newHistoryEntrySchema>>
  signal: Same<client.NewSignal, Wire<typeof newSignalSchema>>
  erasure: Same<client.Erasure, Wire<typeof erasureSchema>>
  key: Same<client.NewKey, Wire<typeof newKeySchema>>
  rotation: Same<client.Rotation, NonNullable<Wire<typeof rotationSchema>>>
  repository: Same<client.NewRepository, Wire<typeof newRepositorySchema>>
}>

export type Queries = All<{
  page: Same<Said<client.PageQuery>, Said<Wire<typeof pageQuerySchema>>>
  prompts: Same<Said<client.PromptQuery>, Said<Wire<typeof promptQuerySchema>>>
  live: Same<Said<client.LiveQuery>, Said<Wire<typeof liveQuerySchema>>>
  signals: Same<Said<client.SignalQuery>, Said<Wire<typeof signalQuerySchema>>>
  export: Same<Said<client.ExportQuery>, Said<Wire<typeof exportQuerySchema>>>
  // Actions are a list here and words with commas between on the wire.
  timeline: Same<
    Said<Omit<client.TimelineQuery, 'action'> & { action?: string }>,
    Said<Wire<typeof timelineQuerySchema>>
  >
  audit: Same<Said<client.AuditQuery>, Said<Wire<typeof auditQuerySchema>>>
  summary: Same<Said<client.SummaryQuery>, Said<Wire<typeof summaryQuerySchema>>>
}>
