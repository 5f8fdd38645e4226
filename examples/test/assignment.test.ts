import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { without } from '../../testing/installed-tools.ts'

function pathOf(name: string): string {
  return fileURLToPath(new URL(`../${name}`, import.meta.url))
}

// The domain is tested against the same vectors (server/test/domain/assignment.test.ts).
const vectors = readFileSync(pathOf('assignment-vectors.json'), 'utf8')

function checkArms(command: string, ...args: string[]): void {
  const { stdout, stderr } = spawnSync(command, args, { input: vectors, encoding: 'utf8' })
  assert.equal(stderr, '')
  assert.deepEqual(
    stdout.trim().split('\n'),
    JSON.parse(vectors).map(({ arm }: { arm: string }) => arm),
  )
}

test('the Go example gives every unit the arm that the service does', { skip: without('go') }, () => {
  checkArms('go', 'run', pathOf('go/assign_unit/main.go'))
})

test('the Python example gives every unit the arm that the service does', { skip: without('python3') }, () => {
  checkArms('python3', pathOf('python/assign_unit.py'))
})
