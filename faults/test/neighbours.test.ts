import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { attacks } from '../neighbours/attacks.ts'
import { neighbours } from '../neighbours.ts'
import { testFault } from './fault-test.ts'

// Slow: tries every attack once, and measures a neighbour before and during each.
testFault(neighbours, 'sqlite', 'postgres')

test('the measurements name every attack, and the guide their number', () => {
  const read = (page: string) => readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8')
  for (const { name } of attacks) assert.ok(read('measurements/faults.md').includes(name), name)
  assert.match(read('reliability.md'), new RegExp(` ${attacks.length} attacks`))
})
