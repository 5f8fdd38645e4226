import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'

const read = (file: string) => readFile(new URL(`../../../${file}`, import.meta.url), 'utf8')

describe('The containers', () => {
  test('every container runs read-only, without privileges and without a way to gain any', async () => {
    const compose = await read('compose.yaml')
    const hardened = section(compose, 'x-hardened: &hardened')
    for (const line of [
      'read_only: true',
      'cap_drop: [ALL]',
      'security_opt: ["no-new-privileges:true"]',
      'tmpfs: [/tmp]',
    ]) {
      assert.ok(hardened.includes(`  ${line}\n`), line)
    }
    const services = compose.slice(compose.indexOf('\nservices:'), compose.indexOf('\nvolumes:'))
    const names = [...services.matchAll(/^ {2}([\w-]+):$/gm)].map(([, name]) => name)
    assert.deepEqual(names, ['promptledger', 'with-postgres', 'postgres'])
    assert.equal(services.match(/^ {4}<<: \*hardened$/gm)?.length, names.length)
    assert.doesNotMatch(compose, /privileged|network_mode|pid:/)
    assert.match(await read('Dockerfile'), /^USER node$/m)
  })

  test('the service is published on this machine only, and PostgreSQL not at all', async () => {
    const compose = await read('compose.yaml')
    const published = [...compose.matchAll(/ports: (.*)/g)].map(([, ports]) => ports)
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of compose
    assert.deepEqual(published, Array(2).fill('["${PUBLISH_ADDRESS:-127.0.0.1}:3000:3000"]'))
  })

  test('every image can be pinned by its digest', async () => {
    const [compose, dockerfile] = [await read('compose.yaml'), await read('Dockerfile')]
    for (const [, image] of compose.matchAll(/image: (.*)/g)) assert.match(image as string, /^\$\{POSTGRES_IMAGE:-/)
    for (const [, image] of dockerfile.matchAll(/^FROM (\S+)/gm)) assert.match(image as string, /^\$\{NODE_IMAGE\}$/)
  })
})

/** The lines of a top-level key, without the key. */
function section(text: string, key: string): string {
  const start = text.indexOf(`\n${key}\n`) + key.length + 2
  return text.slice(start, text.indexOf('\n\n', start) + 1)
}
