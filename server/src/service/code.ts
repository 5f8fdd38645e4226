type Keep = () => void

/** Keeps the functions that this start has compiled for the next one, if the package was started without them: packaging/code-cache.js. */
export function keepCode(): void {
  const keep = (globalThis as { [key: symbol]: Keep | undefined })[Symbol.for('promptledger.keepCode')]
  keep?.()
}
