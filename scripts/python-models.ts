import { descriptionOf, isNullable, namedShapes, resolve, type Schema, typeOf } from './client-types.ts'

const maxLineLength = 120

const header = `"""The objects of the API, as dictionaries with known keys."""

from __future__ import annotations

from typing import Any, Literal, Optional, TypedDict, Union
`

/** Collects the classes of a file. A nested object gets the name of its class and its key. */
interface Module {
  /** Named types by their structure. */
  names: Map<string, string>
  classes: string[]
}

/** The text of `models.py`. */
export function generatePythonModels(): string {
  // Queries are keyword arguments in Python.
  const shapes = namedShapes().filter(([name]) => !name.endsWith('Query'))
  const module: Module = { names: new Map(shapes.map(([name, schema]) => [typeOf(schema), name])), classes: [] }
  const aliases: string[] = []
  for (const [name, schema] of shapes) {
    if (schema.properties === undefined) aliases.push(aliasOf(name, schema, module))
    else addClass(name, schema, module)
  }
  return `${header}\n${aliases.join('\n')}\n\n\n${module.classes.join('\n\n')}`
}

function aliasOf(name: string, schema: Schema, module: Module): string {
  const line = `${name} = ${expressionOf(name, schema, module)}`
  if (line.length <= maxLineLength) return line
  const values = (schema.enum ?? []).map((value) => `    ${JSON.stringify(value)},\n`)
  return `${name} = Literal[\n${values.join('')}]`
}

/** Python before 3.11 cannot mark one key of a class as optional: these are in a class that extends the required ones. */
function addClass(name: string, schema: Schema, module: Module): void {
  if (schema.properties !== undefined && 'from' in schema.properties) {
    addCall(name, schema, module)
    return
  }
  const required = new Set(schema.required)
  const fields = Object.entries(schema.properties ?? {}).map(([key, property]) => ({
    isRequired: required.has(key),
    text: `    ${key}: ${referenceTo(`${name}${capitalised(key)}`, property, module)}\n${docOf(property)}`,
  }))
  const [always, sometimes] = [true, false].map((isRequired) =>
    fields.filter((field) => field.isRequired === isRequired).map(({ text }) => text),
  ) as [string[], string[]]
  const doc = docOf(schema)
  const classOf = (signature: string, doc: string, fields: string[]) =>
    `class ${signature}:\n${doc}${doc === '' || fields.length === 0 ? '' : '\n'}${fields.join('')}`
  if (sometimes.length === 0) {
    module.classes.push(classOf(`${name}(TypedDict)`, doc, always))
  } else if (always.length === 0) {
    module.classes.push(classOf(`${name}(TypedDict, total=False)`, doc, sometimes))
  } else {
    module.classes.push(classOf(`${name}Required(TypedDict)`, '', always))
    module.classes.push(classOf(`${name}(${name}Required, total=False)`, doc, sometimes))
  }
}

/** A key that is a keyword of Python cannot be written in a class. */
function addCall(name: string, schema: Schema, module: Module): void {
  const properties = Object.entries(schema.properties ?? {})
  const fields = properties.map(([key, property]) => {
    const doc = descriptionOf(property)
    const comment = doc === '' ? '' : `        # ${doc}\n`
    return `${comment}        "${key}": "${referenceTo(`${name}${capitalised(key)}`, property, module)}",\n`
  })
  if (schema.required?.length !== properties.length) {
    throw new Error(`scripts/python-models.ts handles no optional keys beside "from", as in ${name}`)
  }
  module.classes.push(`${name} = TypedDict(\n    "${name}",\n    {\n${fields.join('')}    },\n)\n`)
}

function referenceTo(place: string, schema: Schema, module: Module): string {
  const resolved = resolve(schema)
  const type = module.names.get(typeOf(resolved)) ?? expressionOf(place, resolved, module)
  return isNullable(schema) ? `Optional[${type}]` : type
}

/** The type of a schema without a name. `place` names the class of a nested object. */
function expressionOf(place: string, schema: Schema, module: Module): string {
  const { type: types, enum: values, properties, items } = schema
  const [type, ...others] = [types].flat().filter((type) => type !== 'null')
  if (others.length > 0) {
    return `Union[${[type, ...others].map((type) => expressionOf(place, { type } as Schema, module)).join(', ')}]`
  }
  if (values !== undefined) return `Literal[${values.map((value) => JSON.stringify(value)).join(', ')}]`
  if (properties !== undefined) {
    addClass(place, schema, module)
    return place
  }
  if (type === 'array') {
    // A pair is a list too: JSON has no tuples, and Python no type for a list of two.
    return `list[${referenceTo(`${place}Item`, items ?? {}, module)}]`
  }
  const names: Record<string, string> = {
    object: 'dict[str, Any]',
    integer: 'int',
    number: 'float',
    string: 'str',
    boolean: 'bool',
  }
  const name = names[type ?? '']
  if (name === undefined) throw new Error(`scripts/python-models.ts does not handle the type ${type}`)
  return name
}

/** Editors show a text below a key as its documentation. */
function docOf(schema: Schema): string {
  const text = descriptionOf(schema)
  return text === '' ? '' : docText(text)
}

/** A documentation string, with a paragraph and a list of arguments. */
export function docText(text: string, args: string[] = [], indent = '    '): string {
  const list = args.length === 0 ? [] : ['', 'Args:', ...args.flatMap((each) => wrap(each, `${indent}    `, '    '))]
  const lines = [...wrap(text, indent), ...list.map((line) => (line === '' || line === 'Args:' ? line : `    ${line}`))]
  // A quote at the end would close the text early.
  const body = lines
    .join(`\n${indent}`)
    .replaceAll(/[ \t]+\n/g, '\n')
    .replace(/"$/, '" ')
  return lines.length === 1 ? `${indent}"""${body}"""\n` : `${indent}"""${body}\n${indent}"""\n`
}

/** The words in lines that fit. Further lines are indented by `hanging`. */
function wrap(text: string, indent: string, hanging = ''): string[] {
  const lines: string[] = ['']
  for (const word of text.replaceAll(/\s+/g, ' ').replaceAll('\\', '\\\\').replaceAll('"""', "'''").split(' ')) {
    const line = lines.at(-1) as string
    if (indent.length + 4 + line.length + word.length > maxLineLength) lines.push(hanging + word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines
}

export function capitalised(key: string): string {
  return key.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
