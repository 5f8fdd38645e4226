/**
 * The value of an environment variable, or undefined in a runtime without them.
 *
 * Found by name at run time, so that no bundler can write the API key into a script for browsers.
 */
export function fromEnvironment(
  name: 'PROMPTLEDGER_KEY' | 'PROMPTLEDGER_SIGNING_KEY' | 'PROMPTLEDGER_URL',
): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } }
  try {
    return process?.env?.[name] || undefined
  } catch {
    // Deno throws without permission to read the variable.
    return undefined
  }
}
