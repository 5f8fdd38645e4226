import type { Access, Role } from '../domain/access/api-key.ts'
import { DomainError, invalid } from '../domain/errors.ts'
import type { EntryDetails } from '../domain/history/entry.ts'
import type { LearnedDrift } from '../domain/impact/model/learned-drift.ts'
import type { Prompt } from '../domain/prompt.ts'
import type { Propose } from '../domain/proposals/proposal.ts'
import type { Contents, EarliestText } from '../domain/repositories/repository-service.ts'
import type { Store } from '../domain/store.ts'
import { type Instant, parseTime } from '../domain/time.ts'
import { fastifyValidator } from '../http/validate.ts'

/** What a tool works with, for one request. */
export interface ToolContext {
  store: Store
  learned: LearnedDrift
  access: Access
  texts: Texts
  propose: Propose
  now: Instant
}

/** Reads texts from git, within the limits of the process. */
interface Texts {
  contents(organisationId: number, entry: EntryDetails): Promise<Contents>
  earliestText(prompt: Prompt, at: Instant): Promise<EarliestText | null>
}

/** What an agent sees of a tool. */
interface ToolDefinition {
  name: string
  description: string
  inputSchema: { type: 'object'; properties: Properties; required?: readonly string[] }
  annotations: { readOnlyHint: true } | { readOnlyHint: false; destructiveHint: false; idempotentHint: boolean }
}

/** The arguments of a tool: text, one of several words, or an object of texts. */
type Properties = Record<string, Property>

type Property = { description?: string } & (
  | { type: 'string'; enum?: readonly string[]; maxLength?: number }
  | { type: 'object'; additionalProperties: { type: 'string' } }
)

type ValueOf<P> = P extends { enum: readonly (infer Word)[] }
  ? Word
  : P extends { type: 'object' }
    ? Record<string, string>
    : string

type Arguments<P, Required extends keyof P> = { [Name in Required]: ValueOf<P[Name]> } & {
  [Name in Exclude<keyof P, Required>]?: ValueOf<P[Name]>
}

export interface Tool {
  definition: ToolDefinition
  /** The roles that may use it, if it writes. Other keys do not see it. */
  writes: readonly Role[] | null
  call(context: ToolContext, sent: Record<string, unknown>): Promise<object>
}

export function defineTool<const P extends Properties, const Required extends keyof P & string>(
  {
    name,
    description,
    properties,
    required,
    writes,
    isRepeatable = true,
  }: {
    name: string
    description: string
    properties: P
    required: Required[]
    writes?: readonly Role[]
    /** Whether a second call with the same arguments changes nothing. */
    isRepeatable?: boolean
  },
  call: (context: ToolContext, args: Arguments<P, Required>) => Promise<object>,
): Tool {
  const inputSchema = { type: 'object', properties, ...(required.length > 0 && { required }) } as const
  const validate = fastifyValidator(inputSchema as object)
  return {
    // The hint that a tool reaches beyond its own data stays at its default, true: results contain text of strangers.
    definition: {
      name,
      description,
      inputSchema,
      annotations:
        writes === undefined
          ? { readOnlyHint: true }
          : { readOnlyHint: false, destructiveHint: false, idempotentHint: isRepeatable },
    },
    writes: writes ?? null,
    async call(context, sent) {
      const result = validate(argumentsOf(sent, properties))
      if ('error' in result) throw result.error
      return call(context, result.value as Arguments<P, Required>)
    },
  }
}

/** Forgives what models often get wrong: null and empty text for "none", and a number where its digits are meant. */
function argumentsOf(sent: Record<string, unknown>, properties: Properties): Record<string, unknown> {
  const given = Object.entries(sent).filter(([, value]) => value !== null && value !== '')
  if (given.some(([name]) => !Object.hasOwn(properties, name))) {
    throw invalid(
      `There is an argument that this tool does not have. Its arguments: ${Object.keys(properties).join(', ')}`,
    )
  }
  return Object.fromEntries(
    given.map(([name, value]) => {
      const isDigits = typeof value === 'number' && properties[name]?.type === 'string'
      return [name, isDigits ? String(value) : value]
    }),
  )
}

/** A time, or a date, which stands for its start. */
export function timeArgument(name: string, text: string | undefined): Instant | null {
  if (text === undefined) return null
  return parseTime(name, /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text)
}

/** `until` is exclusive. */
export function timeRange(args: { since?: string; until?: string }): { since: Instant | null; until: Instant | null } {
  const [since, until] = [timeArgument('since', args.since), timeArgument('until', args.until)]
  if (since !== null && until !== null && until <= since) throw invalid('until must be later than since')
  return { since, until }
}

/** An argument that has to be one of `choices`. They are apart from the message, because other people named them. */
export class ChoiceError extends DomainError {
  readonly choices: Record<string, object[]>

  constructor(message: string, choices: Record<string, object[]>) {
    super('validation_error', message)
    this.choices = choices
  }
}
