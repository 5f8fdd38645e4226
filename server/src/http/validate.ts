import type { Static, TSchema } from 'typebox'
import Compile from 'typebox/compile'
import { invalid } from '../domain/errors.ts'

/** Gives the value back, typed, once it fits the schema; otherwise says what is wrong and where. Nothing is coerced or dropped. */
export function checker<Schema extends TSchema>(schema: Schema): (value: unknown) => Static<Schema> {
  const compiled = Compile(schema)
  return (value) => {
    if (!compiled.Check(value)) throw invalid(describe(compiled.Errors(value)))
    return value as Static<Schema>
  }
}

/** The same in the form that Fastify wants it. */
export function validator(schema: TSchema): (value: unknown) => { value: unknown } | { error: Error } {
  const check = checker(schema)
  return (value) => {
    try {
      return { value: check(value) }
    } catch (error) {
      return { error: error as Error }
    }
  }
}

type Problem = ReturnType<ReturnType<typeof Compile>['Errors']>[number]

function describe(problems: Problem[]): string {
  const [first] = problems
  if (first === undefined) return 'The body is not valid'
  const field = first.instancePath.slice(1).replaceAll('/', '.')
  if (first.keyword === 'required') {
    const missing = first.params.requiredProperties[0]
    return `${field === '' ? missing : `${field}.${missing}`} must be given`
  }
  const subject = field === '' ? 'The body' : field
  if (first.keyword === 'enum') {
    return `${subject} must be ${either(first.params.allowedValues.map((value) => JSON.stringify(value)))}`
  }
  const types = problems.flatMap((problem) =>
    problem.keyword === 'type' && problem.instancePath === first.instancePath ? [typeName(problem.params.type)] : [],
  )
  return types.length > 0 ? `${subject} must be ${either(types)}` : `${subject} ${first.message}`
}

function typeName(type: string | string[]): string {
  const name = String(type)
  if (name === 'null') return name
  return /^[aeiou]/.test(name) ? `an ${name}` : `a ${name}`
}

function either(options: string[]): string {
  const last = options.at(-1) ?? ''
  return options.length < 2 ? last : `${options.slice(0, -1).join(', ')} or ${last}`
}
