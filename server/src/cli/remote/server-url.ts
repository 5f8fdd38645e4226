import { isIP } from 'node:net'
import { isPublicAddress } from '../../net/address.ts'
import { exitCodes, Failure } from '../failure.ts'

/** The URL of a service without a trailing slash. Throws with what to change. */
export function parseServerUrl(text: string): string {
  const url = /^https?:\/\//i.test(text) ? URL.parse(text) : null
  if (url === null) {
    const example = /^[\w.-]+(:\d+)?(\/|$)/.test(text) ? withScheme(text) : 'https://ledger.example.com'
    throw new Failure(exitCodes.failed, `Pass the URL of the service with http:// or https://, such as ${example}.`)
  }
  if (url.username !== '' || url.password !== '') {
    // The message does not repeat the URL, which contains a password.
    throw new Failure(
      exitCodes.failed,
      'Remove the user name and password from the URL. The API key authenticates you.',
    )
  }
  if (url.search !== '' || url.hash !== '') {
    throw new Failure(exitCodes.failed, 'Remove what follows ? or # from the URL.')
  }
  return url.href.replace(/\/+$/, '')
}

/** A service on the own machine or network mostly has no certificate. */
function withScheme(host: string): string {
  const url = URL.parse(`http://${host}`)
  return url === null || exposesKey(url.href) ? `https://${host}` : url.href.replace(/\/+$/, '')
}

/** Whether the key would cross the Internet in clear text. */
export function exposesKey(serverUrl: string): boolean {
  const { protocol, hostname } = new URL(serverUrl)
  if (protocol === 'https:') return false
  const address = hostname.replaceAll(/^\[|\]$/g, '')
  if (isIP(address) !== 0) return isPublicAddress(address)
  // Names without a dot, and these endings, belong to the own machine or network.
  return hostname.includes('.') && !/\.(localhost|local|internal|lan|home\.arpa|test)$/.test(hostname)
}

export function exposureWarning(serverUrl: string): string {
  return `${serverUrl} is not encrypted: others on the network can read the key. Use https:// if the service has it.`
}
