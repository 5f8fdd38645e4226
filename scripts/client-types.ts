import type { Schema } from '../contract/operation.ts'
import { openApiDocument } from './openapi-document.ts'

export type { Schema }

interface Operation {
  operationId: string
  parameters?: { name: string; in: string; description: string; schema: Schema }[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>
}

/** Types for shapes without a title of their own, by where the document has them. */
const untitled = {
  Action: 'HistoryEntry.action',
  AlertDeliveryState: 'AlertDelivery.state',
  AlertEvent: 'Alert.events[]',
  AlertState: 'Alert.state',
  AuditAction: 'AuditEntry.action',
  AuditQuery: 'listAudit query',
  BlameQuery: 'getBlame query',
  BlameState: 'Blame.state',
  Channel: 'Alert.channel',
  ChangeImpact: 'listImpact response.data[]',
  CommitState: 'Deployment.commit_state',
  ConnectedRepository: 'connectRepository response.data',
  DeliveryState: 'Delivery.state',
  DeliveryEvent: 'AlertDelivery.event',
  DeploymentState: 'Deployment.state',
  Effect: 'TimelineEntry.impact',
  Erased: 'eraseSignals response.data',
  ExportFormat: 'exportSignals query.format',
  ExportQuery: 'exportSignals query',
  Forge: 'Repository.forge',
  ImpactQuery: 'listImpact query',
  Interval: 'summariseSignals response.interval',
  IntervalTally: 'Prompt.signals.days[]',
  Live: 'getLive response.data',
  LiveQuery: 'getLive query',
  LiveSource: 'LiveWindow.live_source',
  NewPromptSegmentKeys: 'declarePromptSegments body',
  PageQuery: 'listHistory query',
  Plan: 'getUsage response.data.plan',
  PromptName: 'createPrompt body',
  PromptQuery: 'listPrompts query',
  PromptSort: 'listPrompts query.sort',
  ProposalFiles: 'Proposal.files',
  ProposalMode: 'Proposal.mode',
  ProposalState: 'Proposal.state',
  RatedTally: 'listImpact response.data[].before',
  RecordedSignal: 'createSignal response.data',
  RegressionQuery: 'listRegressions query',
  RegressionSort: 'listRegressions query.sort',
  RegressionState: 'Regression.state',
  Repair: 'Regression.repaired_by',
  RepositoryState: 'Repository.state',
  Role: 'Key.role',
  RotatedSecret: 'rotateRepositorySecret response.data',
  Rotation: 'rotateKey body',
  SecretRotation: 'rotateRepositorySecret body',
  SessionInfo: 'Session',
  ShiftQuery: 'listShifts query',
  SignalQuery: 'listSignals query',
  SignalValue: 'Signal.value',
  Summary: 'summariseSignals response',
  SummaryQuery: 'summariseSignals query',
  SummaryInterval: 'summariseSignals response.data[]',
  Tally: 'summariseSignals response.total',
  TextQuery: 'searchTexts query',
  TimelineEntryQuery: 'getTimelineEntry query',
  TimelineQuery: 'listTimeline query',
  TriageAction: 'TriageStep.action',
  TrialEnding: 'Trial.ended_by',
  TrialQuery: 'listTrials query',
  TrialState: 'Trial.state',
  TrialVerdict: 'Trial.verdict',
  UnitQuery: 'getPromptText query',
  UpdatedRepository: 'updateRepository response.data',
  UsageReport: 'getUsage response.data',
  VersionQuery: 'listVersions query',
  Verdict: 'listImpact response.data[].verdict',
  WireErrorCode: 'Error.error.code',
}

interface Style {
  /** Declared types by their structure: those of properties are referred to by name. */
  names: Map<string, string>
  /** Queries also accept undefined, and Date objects for times. */
  isQuery: boolean
}

const { paths, components } = JSON.parse(openApiDocument)
const operations = Object.values<Record<string, Operation>>(paths).flatMap((path) => Object.values(path))
const schemas: Record<string, Schema> = components.schemas

/** The schemas that get a type of their own, by its name. The Python client has the same. */
export function namedShapes(): [name: string, schema: Schema][] {
  // Error bodies become the classes of errors.ts.
  const {
    Error: _,
    RateLimited,
    TestLimited,
    FailedSignIns,
    AmbiguousPrompt,
    TrialRuns,
    ProposalProblem,
    EndedSession,
    Session,
    ...titled
  } = schemas
  const derived = Object.entries(untitled).map(([name, place]): [string, Schema] => {
    const schema = resolve(find(place))
    // The description of a property is about that property, not about every use of its type.
    const { description, default: _, ...undocumented } = schema
    return [name, place in schemas ? schema : undocumented]
  })
  return [...Object.entries(titled), ...derived].sort(([one], [other]) => (one < other ? -1 : 1))
}

const time = `/** A time in a query: ISO 8601 with a time zone, or a Date. */
export type Time = string | Date
`

/** The text of `client/src/generated/types.ts`. */
export function generateTypes(): string {
  const shapes = namedShapes()
  const names = new Map(shapes.map(([name, schema]) => [typeOf(schema), name]))
  const declarations = shapes.map(([name, schema]) => {
    const keyword = schema.properties === undefined ? `type ${name} =` : `interface ${name}`
    return `${docOf(schema)}export ${keyword} ${typeOf(schema, { names, isQuery: name.endsWith('Query') })}\n`
  })
  return [time, ...declarations].join('\n')
}

/** The schema at a place such as `listImpact response.data[].verdict`. */
function find(place: string): Schema {
  const [start = '', ...steps] = place.replaceAll('[]', '.[]').split('.')
  const [name = '', part] = start.split(' ')
  let schema = part === undefined ? schemas[name] : partOf(name, part)
  for (const step of steps) schema = step === '[]' ? schema?.items : schema?.properties?.[step]
  if (schema === undefined) throw new Error(`The API has no ${place}: update scripts/client-types.ts`)
  return schema
}

function partOf(operationId: string, part: string): Schema | undefined {
  const operation = operations.find((operation) => operation.operationId === operationId)
  if (part === 'body') return operation?.requestBody?.content['application/json']?.schema
  // Statuses are in ascending order, so the first is the success.
  if (part === 'response') return Object.values(operation?.responses ?? {})[0]?.content?.['application/json']?.schema
  const parameters = operation?.parameters?.filter((parameter) => parameter.in === 'query') ?? []
  const properties = parameters.map(({ name, description, schema }) => [name, { description, ...schema }])
  return { properties: Object.fromEntries(properties) }
}

/** Follows references and drops null, so that a shape has the same structure wherever it occurs. */
export function resolve({ $ref, anyOf, ...schema }: Schema): Schema {
  if ($ref !== undefined) return resolve(schemas[$ref.split('/').at(-1) ?? ''] ?? {})
  const [alternative, ...others] = anyOf?.filter(({ type }) => type !== 'null') ?? []
  if (others.length > 0) throw new Error('scripts/client-types.ts handles anyOf only for a schema or null')
  if (alternative !== undefined) return { ...resolve(alternative), ...schema }
  return { ...schema, ...(schema.enum && { enum: schema.enum.filter((value) => value !== null) }) }
}

export function isNullable({ type, anyOf = [], enum: values = [] }: Schema): boolean {
  return [type].flat().includes('null') || values.includes(null as never) || anyOf.some(isNullable)
}

/** The type in TypeScript. Without a style only its structure, with no names and no comments. */
export function typeOf(
  { type: types, format, enum: values, properties, required, items, minItems, maxItems }: Schema,
  style?: Style,
): string {
  const [type, ...others] = [types].flat().filter((type) => type !== 'null')
  if (others.length > 0) return [type, ...others].map((type) => typeOf({ type } as Schema, style)).join(' | ')
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(' | ')
  if (properties !== undefined) {
    const members = Object.entries(properties).map(([name, property]) => {
      const isOptional = !required?.includes(name)
      const suffix = isOptional && style?.isQuery ? ' | undefined' : ''
      const doc = style === undefined ? '' : docOf(property)
      return `${doc}${name}${isOptional ? '?' : ''}: ${referenceTo(property, style)}${suffix}\n`
    })
    return `{\n${members.join('')}}`
  }
  if (type === 'array') {
    const item = referenceTo(items ?? {}, style)
    return maxItems === undefined || maxItems !== minItems
      ? `(${item})[]`
      : `[${Array(maxItems).fill(item).join(', ')}]`
  }
  if (type === 'object') return 'Record<string, unknown>'
  if (type === 'integer' || type === 'number') return 'number'
  if (type === 'string') return style?.isQuery && format === 'date-time' ? 'Time' : 'string'
  if (type === 'boolean') return 'boolean'
  throw new Error(`scripts/client-types.ts does not handle the type ${type}`)
}

export function referenceTo(schema: Schema, style?: Style): string {
  const resolved = resolve(schema)
  const type = style?.names.get(typeOf(resolved)) ?? typeOf(resolved, style)
  return isNullable(schema) ? `${type} | null` : type
}

function docOf(schema: Schema): string {
  const text = descriptionOf(schema)
  return text === '' ? '' : `/** ${text.replaceAll('*/', '*\\/')} */\n`
}

/** One line of text, empty without a description. */
export function descriptionOf({ description, default: value }: Schema): string {
  const sentence = description?.replace(/[^.]$/, '$&.')
  const fallback = value === undefined || value === '' ? undefined : `Defaults to \`${value}\`.`
  return [sentence, fallback].filter(Boolean).join(' ').replaceAll(/\s+/g, ' ')
}
