import { element } from './element.js'
import { promptIds } from './prompt-ids.js'

/**
 * @typedef {import('./operations.js').Operation} Operation
 * @typedef {import('./operations.js').Parameter} Parameter
 * @typedef {{ url: string, init: RequestInit }} Sent
 */

/**
 * The form of an operation: a field for each parameter, and the example as body.
 *
 * @param {Operation} operation
 * @returns {{ fields: HTMLElement[], read: () => Sent }} `read` throws an error with a message for people.
 */
export function formOf({ operationId, method, path, parameters = [], requestBody }) {
  const fields = parameters.map((parameter) => ({ parameter, ...fieldOf(operationId, parameter) }))
  const example = Object.values(requestBody?.content ?? {})[0]?.examples?.example_1?.value
  const body =
    requestBody === undefined
      ? null
      : element('textarea', { id: `${operationId}-body`, rows: '8', spellcheck: 'false', autocomplete: 'off' })
  if (body !== null) body.value = example === undefined ? '' : JSON.stringify(example, null, 2)

  function read() {
    let url = path
    const query = new URLSearchParams()
    const headers = new Headers()
    for (const { parameter, control } of fields) {
      const { name, in: place } = parameter
      const text = control.value
      if (place === 'path') url = url.replace(`{${name}}`, segmentOf(name, text))
      else if (text !== '' && place === 'query') query.set(name, text)
      else if (text !== '') headers.set(name, text)
    }
    if (body !== null && body.value.trim() !== '') headers.set('Content-Type', 'application/json')
    const sent = body !== null && body.value.trim() !== '' ? { body: body.value } : {}
    const address = query.size === 0 ? url : `${url}?${query}`
    return { url: address, init: { method: method.toUpperCase(), headers, ...sent } }
  }

  const rows = fields.map(({ row }) => row)
  if (body !== null) rows.push(element('div', {}, element('label', { for: body.id }, 'Body'), body))
  return { fields: rows, read }
}

/**
 * @param {string} operationId
 * @param {Parameter} parameter
 */
function fieldOf(operationId, { name, in: place, required, schema }) {
  const id = `${operationId}-${place}-${name}`
  const control = schema.enum === undefined ? inputOf(id, name, required, schema) : choiceOf(id, required, schema)
  const kind = required ? place : `${place}, optional`
  const label = element('label', { for: id }, element('code', {}, name), ' ', element('small', {}, kind))
  const extra = name === 'prompt_id' ? [promptIds()] : []
  return { control, row: element('div', {}, label, control, ...extra) }
}

/**
 * @param {string} id
 * @param {string} name
 * @param {boolean} required
 * @param {import('./operations.js').Schema} schema
 */
function inputOf(id, name, required, { type, default: defaultValue, examples = [] }) {
  const isInteger = [type].flat().includes('integer')
  const example = defaultValue ?? examples[0]
  return element('input', {
    id,
    required,
    autocomplete: 'off',
    spellcheck: 'false',
    inputmode: isInteger && ![type].flat().includes('string') ? 'numeric' : false,
    placeholder: example === undefined ? false : String(example),
    list: name === 'prompt_id' ? 'prompt-ids' : false,
  })
}

/**
 * @param {string} id
 * @param {boolean} required
 * @param {import('./operations.js').Schema} schema
 */
function choiceOf(id, required, { enum: values = [], default: defaultValue }) {
  const none = defaultValue === undefined ? '' : `Default: ${defaultValue}`
  const options = values.map((value) => element('option', { value: String(value) }, String(value)))
  return element('select', { id, required }, element('option', { value: '' }, none), ...options)
}

/**
 * A part of the path. The browser would resolve `.` and `..`, even percent-encoded, and send the request to another operation.
 *
 * @param {string} name
 * @param {string} text
 */
function segmentOf(name, text) {
  if (text === '') throw new Error(`${name} is required.`)
  if (text === '.' || text === '..') throw new Error(`${name} cannot be ${text}.`)
  return encodeURIComponent(text)
}
