/** How many signals one request may record. */
export const maxBatchSignals = 1_000

/** A thousand signals of 2 KB each. Parsing this much JSON takes about 20 ms; json-bodies.ts rejects what would take much longer. */
export const maxBatchBytes = 2 * 1024 * 1024
