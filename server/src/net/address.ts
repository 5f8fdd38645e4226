import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'

/** Resolves a host name to all of its addresses. */
export type Lookup = (host: string) => Promise<string[]>

// From IANA's registries of special-purpose addresses: loopback, private, link-local, carrier-grade NAT, documentation,
// benchmarking, multicast and reserved ones. The last is the metadata server of Azure.
const specialIpv4 = blockList('ipv4', [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  ['168.63.129.16', 32],
])

// Everything public is in 2000::/3. Loopback, unique local, link-local and IPv4-mapped addresses are outside.
const globalIpv6 = blockList('ipv6', [['2000::', 3]])
// Protocol assignments with Teredo, documentation, and 6to4, which leads to an IPv4 address.
const specialIpv6 = blockList('ipv6', [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
])

export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !specialIpv4.check(address, 'ipv4')
  if (isIP(address) !== 6 || address.includes('%')) return false
  const translated = nat64Target(address)
  if (translated !== null) return isPublicAddress(translated)
  return globalIpv6.check(address, 'ipv6') && !specialIpv6.check(address, 'ipv6')
}

/** The IPv4 address that a NAT64 gateway connects to for an address in 64:ff9b::/96. */
function nat64Target(address: string): string | null {
  const [, low] = /^\[64:ff9b::([0-9a-f:]*)\]$/.exec(new URL(`http://[${address}]`).hostname) ?? []
  if (low === undefined || low.split(':').length > 2) return null
  const groups = ['0', '0', ...low.split(':')].slice(-2).map((group) => Number.parseInt(group || '0', 16))
  return groups.flatMap((group) => [group >> 8, group & 255]).join('.')
}

const timeoutMs = 10_000

/** All addresses of the host; null if it has none, or one that is not public. */
export async function publicAddresses(host: string, lookUp: Lookup = systemLookup): Promise<string[] | null> {
  const timeout = AbortSignal.timeout(timeoutMs)
  const expired = new Promise<string[]>((resolve) => timeout.addEventListener('abort', () => resolve([])))
  const addresses = await Promise.race([lookUp(host), expired]).catch(() => [])
  return addresses.length > 0 && addresses.every(isPublicAddress) ? addresses : null
}

// A lookup occupies one of libuv's four threads until the name servers answer. Two lanes leave threads for file access,
// however slow the name servers of a host are.
const lanes: Promise<unknown>[] = [Promise.resolve(), Promise.resolve()]
let lookups = 0

/** As programs on this machine resolve names, with /etc/hosts and search domains. */
export async function systemLookup(host: string): Promise<string[]> {
  const lane = lookups++ % lanes.length
  const expiresAt = performance.now() + timeoutMs
  const found = (lanes[lane] as Promise<unknown>).then(() =>
    performance.now() < expiresAt ? lookup(host, { all: true }) : [],
  )
  lanes[lane] = found.catch(() => {})
  return (await found).map(({ address }) => address)
}

function blockList(family: 'ipv4' | 'ipv6', subnets: [string, number][]): BlockList {
  const list = new BlockList()
  for (const [network, prefix] of subnets) list.addSubnet(network, prefix, family)
  return list
}
