/**
 * The parts of the OpenAPI document that the forms need.
 *
 * @typedef {{ type?: string | string[], enum?: unknown[], default?: unknown, examples?: unknown[] }} Schema
 * @typedef {{ name: string, in: 'path' | 'query' | 'header', required: boolean, description: string, schema: Schema }} Parameter
 * @typedef {{ operationId: string, summary: string, parameters?: Parameter[], security?: Record<string, string[]>[],
 *   requestBody?: { required: boolean, content: Record<string, { examples?: Record<string, { value: unknown }> }> } }} Described
 * @typedef {Described & { method: string, path: string }} Operation
 */

/** @type {Promise<Map<string, Operation>> | null} */
let known = null

/**
 * All operations by their IDs. Loaded with the first form.
 *
 * @returns {Promise<Map<string, Operation>>}
 */
export function operations() {
  known ??= load().catch((error) => {
    known = null
    throw error
  })
  return known
}

async function load() {
  const response = await fetch('/openapi.json')
  if (!response.ok) throw new Error(`The OpenAPI document could not be loaded: ${response.status}`)
  /** @type {{ paths: Record<string, Record<string, Described>>, components: { securitySchemes: Record<string, { in?: string, name?: string, description: string }> } }} */
  const { paths, components } = await response.json()
  /** @type {Map<string, Operation>} */
  const byId = new Map()
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const parameters = [...(operation.parameters ?? []), ...signatures(operation, components.securitySchemes)]
      byId.set(operation.operationId, { ...operation, parameters, method, path })
    }
  }
  return byId
}

/**
 * Headers that authenticate a request other than a key or a session, such as the signature of a webhook.
 *
 * @param {Described} operation
 * @param {Record<string, { in?: string, name?: string, description: string }>} schemes
 * @returns {Parameter[]}
 */
function signatures({ security = [] }, schemes) {
  return security
    .flatMap((needed) => Object.keys(needed))
    .map((name) => schemes[name])
    .filter((scheme) => scheme?.in === 'header')
    .map((scheme) => ({
      name: scheme?.name ?? '',
      in: 'header',
      required: false,
      description: scheme?.description ?? '',
      schema: { type: 'string' },
    }))
}

// Whatever they replace or end is gone. Other changes can be taken back.
const irreversible = /^(erase|rotate|revoke|disconnect|remove|delete|retract|signOut|declare)/

/** @param {Operation} operation */
export function isDestructive({ method, operationId }) {
  return method === 'delete' || irreversible.test(operationId)
}
