import { BlockList, isIP, isIPv6 } from 'node:net'
import type { FastifyRequest } from 'fastify'

/** Finds the address of the client behind the operator's proxies. */
export interface ClientAddresses {
  /** Its network: the part of the address that one client keeps. */
  networkOf(request: FastifyRequest): string
  /** Its network, and the wider one that one provider may have given to one customer. */
  networksOf(request: FastifyRequest): [string, string]
  /** Whether the request says that it came through a proxy, but not through one that is trusted. */
  isForwardedByUnknown(request: FastifyRequest): boolean
}

/**
 * Each proxy appends the address that it saw to `X-Forwarded-For`, so the header is read from its end, as long as a trusted proxy
 * wrote it. Clients can write whatever they like before that.
 */
export function createClientAddresses(trustedProxies: readonly string[]): ClientAddresses {
  const trusted = new BlockList()
  for (const proxy of trustedProxies) {
    const [address = '', prefix] = proxy.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (prefix === undefined) trusted.addAddress(address, family)
    else trusted.addSubnet(address, Number(prefix), family)
  }
  // A connection that is closed already has no address, and a `BlockList` would throw.
  const peerOf = ({ ip }: FastifyRequest): string => ip ?? 'unknown'
  const isTrusted = (address: string) => trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
  const forwardedFor = ({ headers }: FastifyRequest) => [headers['x-forwarded-for'] ?? []].flat().join(',')

  function addressOf(request: FastifyRequest): string {
    let address = peerOf(request)
    if (trustedProxies.length === 0) return address
    // Not split: the client decides how many parts there are.
    let hops = forwardedFor(request)
    while (isTrusted(address)) {
      const comma = hops.lastIndexOf(',')
      const before = withoutPort(hops.slice(comma + 1).trim())
      if (isIP(before) === 0) break
      address = before
      hops = hops.slice(0, Math.max(comma, 0))
    }
    return address
  }

  return {
    networkOf: (request) => networkOf(addressOf(request)),
    networksOf(request) {
      const network = networkOf(addressOf(request))
      return [network, widerNetworkOf(network)]
    },
    isForwardedByUnknown: (request) => forwardedFor(request) !== '' && !isTrusted(peerOf(request)),
  }
}

// Some proxies, such as Azure Application Gateway, write the port too.
const addressWithPort = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d+)?$/

function withoutPort(hop: string): string {
  const [, ipv6, ipv4] = addressWithPort.exec(hop) ?? []
  return ipv6 ?? ipv4 ?? hop
}

const ipv4InIpv6 = /^::ffff:(?=\d+\.)/i
const groupCount = 8
const networkGroups = 4
const lastPart = /(:[^:]+::\/64|\.\d+)$/

/** The part of an address that one client keeps: all of an IPv4 address, the first 64 bits of an IPv6 address. */
export function networkOf(address = 'unknown'): string {
  const plain = address.replace(ipv4InIpv6, '')
  if (!isIPv6(plain)) return plain
  const [before = [], after = []] = plain.split('::').map((part) => part.split(':').filter((group) => group !== ''))
  const zeros = Array<string>(groupCount - before.length - after.length).fill('0')
  return `${[...before, ...zeros, ...after].slice(0, networkGroups).join(':')}::/64`
}

/** The first 24 bits of an IPv4 address, or the first 48 bits of an IPv6 address. */
function widerNetworkOf(network: string): string {
  return network.replace(lastPart, '')
}
