import { randomUUID } from 'node:crypto'
import { createCitusDatabase, dropCitusDatabase } from '../../../testing/citus.ts'
import { closeOnTestEnd } from '../../../testing/cleanup.ts'
import type { Engine, TestDatabase } from '../../../testing/engines.ts'

/** The coordinator and the workers of the cluster that the tests share. */
export const urls = (process.env.TEST_CITUS_URLS ?? '').split(' ')

/** A database of the cluster that is not distributed yet. */
export const plain: Engine = {
  name: 'PostgreSQL',
  create: createPlain,
  createEmpty: createPlain,
}

async function createPlain(): Promise<TestDatabase> {
  const name = `plain_${randomUUID().replaceAll('-', '')}`
  const url = await createCitusDatabase(urls, name)
  return { url, remove: closeOnTestEnd(() => dropCitusDatabase(urls, name)) }
}
