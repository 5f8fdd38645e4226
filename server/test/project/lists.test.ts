import assert from 'node:assert/strict'
import { glob, readFile } from 'node:fs/promises'
import { test } from 'node:test'

const http = new URL('../../src/http/', import.meta.url)

test('a request reads a whole list to show a page of it only where the list has a limit', async () => {
  const cut: string[] = []
  for await (const file of glob('**/*.ts', { cwd: http })) {
    if (/import \{[^}]*\bcutPage\b/.test(await readFile(new URL(file, http), 'utf8'))) cut.push(file)
  }
  // In this order: maxAlerts, maxOpenInvitations, REPOSITORIES_PER_ORGANISATION with maxDeliveries, and maxSources.
  assert.deepEqual(cut.sort(), [
    'alerts/routes.ts',
    'people/invitations.ts',
    'repositories/routes.ts',
    'sources/routes.ts',
  ])
})
