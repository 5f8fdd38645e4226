import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { FromSchema, JSONSchema } from 'json-schema-to-ts'
import { invalid } from '../domain/errors.ts'

let ajv: Ajv | undefined

function compile(schema: JSONSchema): ValidateFunction {
  // No coercion, no defaults, no removal: a value is accepted as sent or rejected.
  ajv ??= new Ajv({ allowUnionTypes: true, validateFormats: false })
  return ajv.compile(schema as object)
}

/** A function that returns the value, typed, if it matches the schema, and otherwise says what is wrong and where. */
export function createSchemaChecker<const Schema extends JSONSchema>(
  schema: Schema,
): (value: unknown) => FromSchema<Schema> {
  // Compiled when first used: compiling all schemas would take a fifth of the start, and the compiler itself a twentieth.
  let matches: ValidateFunction | undefined
  return (value) => {
    matches ??= compile(schema)
    if (!matches(value)) throw invalid(describe(matches.errors?.[0]))
    return value as FromSchema<Schema>
  }
}

/** The same check in the form that Fastify expects. */
export function fastifyValidator(schema: JSONSchema): (value: unknown) => { value: unknown } | { error: Error } {
  const check = createSchemaChecker(schema)
  return (value) => {
    try {
      return { value: check(value) }
    } catch (error) {
      return { error: error as Error }
    }
  }
}

function describe(problem: ErrorObject | undefined): string {
  if (problem === undefined) return 'The body is not valid'
  const { keyword, params, message } = problem
  const field = problem.instancePath.slice(1).replaceAll('/', '.')
  if (keyword === 'required') {
    return `${field === '' ? params.missingProperty : `${field}.${params.missingProperty}`} is required`
  }
  const subject = field === '' ? 'The body' : field
  if (keyword === 'enum') {
    const values = params.allowedValues.filter((value: unknown) => value !== null)
    return `${subject} must be ${either(values.map((value: unknown) => JSON.stringify(value)))}`
  }
  if (keyword === 'type') return `${subject} must be ${either([params.type].flat().map(withArticle))}`
  return `${subject} ${message}`
}

function withArticle(type: string): string {
  if (type === 'null') return type
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`
}

function either(options: string[]): string {
  const last = options.at(-1) ?? ''
  return options.length < 2 ? last : `${options.slice(0, -1).join(', ')} or ${last}`
}
