import assert from 'node:assert/strict'
import { Ajv } from 'ajv'
import type { LightMyRequestResponse } from 'fastify'

const ajv = new Ajv({ allowUnionTypes: true, validateFormats: false })

/** The response has this status and the error body that goes with it. */
export function assertError(response: LightMyRequestResponse, status: number, code: string, message = /./): void {
  assert.deepEqual([response.statusCode, response.json().error?.code], [status, code], response.body)
  assert.match(response.json().error.message, message)
}

/** The body matches the schema, with no field missing and none of another type. */
export function assertMatchesSchema(schema: object, response: LightMyRequestResponse): void {
  const validate = ajv.compile(schema)
  assert.ok(validate(response.json()), JSON.stringify(validate.errors))
}
