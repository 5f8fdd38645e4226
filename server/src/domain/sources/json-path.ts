import { invalidField } from '../errors.ts'
import { validLine } from '../text.ts'

const maxLength = 500
const maxSteps = 32
// A singular query of RFC 9535: it selects at most one value, so nothing that is sent decides how long it takes.
const step = /\.([\p{L}_$@][\p{L}\p{N}_$@-]*)|\[(\d{1,6})\]|\['((?:[^'\\]|\\['\\])*)'\]/uy

/** The names and indexes of a JSONPath such as `$.runs[0]['user score']`. Null if it is malformed. */
export function parsePath(path: string): (string | number)[] | null {
  if (!path.startsWith('$')) return null
  const steps: (string | number)[] = []
  step.lastIndex = 1
  while (step.lastIndex < path.length) {
    const [, name, index, quoted] = step.exec(path) ?? []
    if (name !== undefined) steps.push(name)
    else if (index !== undefined) steps.push(Number(index))
    else if (quoted !== undefined) steps.push(quoted.replaceAll(/\\(.)/g, '$1'))
    else return null
  }
  return steps.length > maxSteps ? null : steps
}

export function validPath(field: string, path: string): string {
  validLine(field, path, maxLength)
  if (parsePath(path) === null) {
    throw invalidField(field, "must be a JSONPath of one value, such as $.data.rating or $.items[0]['user score']")
  }
  return path
}

/** What the path selects. Undefined if there is nothing, or only a member that every object inherits. */
export function valueAt(value: unknown, path: string): unknown {
  let current = value
  for (const each of parsePath(path) ?? []) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, each)) return undefined
    current = (current as Record<string | number, unknown>)[each]
  }
  return current
}
