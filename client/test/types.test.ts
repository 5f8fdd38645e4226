import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { generateTypes } from '../../scripts/write-client-types.ts'

test("the client's types are those of the OpenAPI document", async () => {
  const types = await readFile(new URL('../src/generated/types.ts', import.meta.url), 'utf8')
  assert.equal(types, generateTypes(), 'client/src/generated/types.ts is out of date: run npm run client-types')
})
