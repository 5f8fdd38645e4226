import { isIPv6 } from 'node:net'

const ipv4InIpv6 = /^::ffff:(?=\d+\.)/i
const groupCount = 8
const networkGroups = 4

/** The part of an address that one client keeps: all of an IPv4 address, the first 64 bits of an IPv6 address. */
export function networkOf(address = 'unknown'): string {
  const plain = address.replace(ipv4InIpv6, '')
  if (!isIPv6(plain)) return plain
  const [before = [], after = []] = plain.split('::').map((part) => part.split(':').filter((group) => group !== ''))
  const zeros = Array<string>(groupCount - before.length - after.length).fill('0')
  return `${[...before, ...zeros, ...after].slice(0, networkGroups).join(':')}::/64`
}
