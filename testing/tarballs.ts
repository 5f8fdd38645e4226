import type { Tarballs } from '../packaging/pack.ts'

/** The packages as a run of the whole suite has packed them once, for all its test files. Null if one is run by hand. */
export const tarballs: Tarballs | null = JSON.parse(process.env.TEST_TARBALLS ?? 'null')
