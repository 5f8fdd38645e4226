import type { BundledPackage } from './bundled-packages.ts'

interface Manifest {
  name: string
  version: string
  license: string
}

/** The bundled packages in the format CycloneDX 1.6, for tools that look for known vulnerabilities. */
export function billOfMaterials({ name, version, license }: Manifest, packages: BundledPackage[]) {
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', ...component({ name, version, licence: license }) } },
    components: packages.map((found) => ({ type: 'library', ...component(found) })),
  }
}

function component({ name, version, licence }: Omit<BundledPackage, 'texts'>) {
  // An `@` before a scope is encoded in package URLs.
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
  return { 'bom-ref': purl, name, version, licenses: [{ expression: licence }], purl }
}
