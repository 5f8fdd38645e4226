/**
 * Where the files are that are not imported. In a checkout they lie beside the code that uses them; the npm package has them in
 * folders beside the bundled code (packaging/build.ts).
 */
const isPackaged = import.meta.url.endsWith('.js')

function at(inCheckout: string, inPackage: string): URL {
  return new URL(isPackaged ? inPackage : inCheckout, import.meta.url)
}

export const migrationsFolders = {
  sqlite: at('./store/sqlite/migrations/', './migrations/sqlite/'),
  postgres: at('./store/postgres/migrations/', './migrations/postgres/'),
}
export const consoleFolder: URL = at('../../console/dist/', './console/')
export const referenceFolder: URL = at('./http/docs/', './reference/')
export const demoPromptsFolder: URL = at('./demo/prompts/', './demo-prompts/')
export const workerEntry: URL = at('./worker.ts', './worker.js')
