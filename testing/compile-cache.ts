import { fileURLToPath } from 'node:url'

/** Where Node keeps compiled modules between test files: loading ours takes half the processor time with it. */
export const compileCache = fileURLToPath(new URL('../node_modules/.cache/compile', import.meta.url))
