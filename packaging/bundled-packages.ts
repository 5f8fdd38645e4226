import { readdir, readFile } from 'node:fs/promises'

/** A package whose code is part of ours. */
export interface BundledPackage {
  name: string
  version: string
  /** An SPDX expression. */
  licence: string
  /** The texts of its licence files. */
  texts: string[]
}

const packageFolder = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//
const licenceFile = /^(licen[cs]e|copying|notice)/i

/** The packages that these modules belong to. */
export async function packagesOf(modules: string[]): Promise<BundledPackage[]> {
  const folders = new Set(modules.flatMap((path) => packageFolder.exec(path)?.[1] ?? []))
  return Promise.all([...folders].map(readPackage))
}

/** Each package once, by name: the service and the console share some. */
export function distinct(packages: BundledPackage[]): BundledPackage[] {
  const byVersion = new Map(packages.map((found) => [`${found.name}@${found.version}`, found]))
  return [...byVersion.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

async function readPackage(folder: string): Promise<BundledPackage> {
  const { name, version, license } = JSON.parse(await readFile(`${folder}/package.json`, 'utf8'))
  const files = (await readdir(folder)).filter((file) => licenceFile.test(file)).sort()
  const texts = await Promise.all(files.map((file) => readFile(`${folder}/${file}`, 'utf8')))
  return { name, version, licence: license, texts: texts.map((text) => text.trim()) }
}

/** The text that has to be distributed with the code of these packages. */
export function licenceText(packages: BundledPackage[]): string {
  const parts = packages.map(({ name, version, licence, texts }) =>
    [`${name} ${version} (${licence})`, ...texts, ''].join('\n\n'),
  )
  return parts.join(`\n${'-'.repeat(80)}\n\n`)
}
