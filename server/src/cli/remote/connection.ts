import type { Promptledger, PromptledgerError } from '../../../../client/src/index.ts'
import { version } from '../../version.ts'
import { exitCodes, Failure } from '../failure.ts'
import { printWarnings } from '../output.ts'
import { type Login, readLogin } from './login-file.ts'
import { exposesKey, exposureWarning, parseServerUrl } from './server-url.ts'
import { readRemoteSettings } from './settings.ts'

/** Where to send requests, and with which key: `--url` or PROMPTLEDGER_URL with PROMPTLEDGER_KEY, or else the stored login. */
export async function findLogin(urlOption: string | undefined): Promise<Login> {
  const settings = readRemoteSettings()
  const given = urlOption ?? settings.url
  if (given === null) return (await readLogin()) ?? failLoggedOut()
  const url = parseServerUrl(given)
  // The key of one service must never reach another, so a URL comes with its own key.
  const key = settings.key ?? (await keyOfLogin(url))
  if (key === null) {
    throw new Failure(
      exitCodes.notLoggedIn,
      `There is no key for ${url}. Run 'promptledger login ${url}', or set PROMPTLEDGER_KEY.`,
    )
  }
  if (exposesKey(url)) printWarnings([exposureWarning(url)])
  return { url, key }
}

async function keyOfLogin(url: string): Promise<string | null> {
  const stored = await readLogin()
  return stored?.url === url ? stored.key : null
}

function failLoggedOut(): never {
  throw new Failure(
    exitCodes.notLoggedIn,
    "Not logged in. Run 'promptledger login <url>' with the URL of the service, such as http://127.0.0.1:3000.",
  )
}

/** The client for a login. It does not follow redirects, so the key stays with this service. */
export async function openConnection(
  { url, key }: Login,
  options: { timeout?: number; maxRetries?: number } = {},
): Promise<Promptledger> {
  // Loaded here, because most commands of the CLI do not need it.
  const { Promptledger } = await import('../../../../client/src/index.ts')
  return new Promptledger({
    baseUrl: url,
    apiKey: key,
    headers: { 'User-Agent': `promptledger/${version}` },
    ...options,
  })
}

/** Runs requests and turns their errors into ones that say what to do. */
export async function explainErrors<T>(url: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw isRequestError(error) ? failureOf(error, url) : error
  }
}

export function isRequestError(error: unknown): error is PromptledgerError {
  return error instanceof Error && 'code' in error && 'requestId' in error
}

/** Whether the same request may succeed later. */
export function isTemporary({ code, status }: PromptledgerError): boolean {
  return code === 'connection_failed' || code === 'timeout' || (status !== null && status >= 500)
}

function failureOf(error: PromptledgerError, url: string): Failure {
  const { code, status, message, requestId } = error
  if (code === 'unauthorized') {
    return new Failure(
      exitCodes.notLoggedIn,
      `The service at ${url} rejects the key: it is mistyped, revoked or expired. Run 'promptledger login ${url}' with another one.`,
    )
  }
  if (code === 'forbidden') {
    return new Failure(
      exitCodes.notLoggedIn,
      `${message} Use a key with the role reader, standard or admin: 'promptledger login ${url}'.`,
    )
  }
  if (code === 'not_found') return new Failure(exitCodes.notFound, message)
  if (status !== null && status >= 300 && status < 400) {
    return new Failure(
      exitCodes.unreachable,
      `${url} redirects elsewhere, and the key is not sent along. Log in with the URL that it redirects to${url.startsWith('http:') ? ', such as https://…' : ''}.`,
    )
  }
  if (code === 'unexpected_response') {
    return new Failure(
      exitCodes.unreachable,
      `${url} did not respond like Promptledger (status ${status}). Check the URL.`,
    )
  }
  if (isTemporary(error)) {
    const request = requestId === null ? '' : ` (request ${requestId})`
    return new Failure(exitCodes.unreachable, `Cannot reach the service at ${url}: ${message}${request}`)
  }
  return new Failure(exitCodes.failed, message)
}
