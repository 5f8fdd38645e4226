/** A folder on the server itself: no forge knows about it, so none sends webhooks. */
export function isLocalFolder(url: string): boolean {
  return url.startsWith('/') || url.startsWith('file:')
}

/**
 * Why the forge cannot reach the webhook, or should not; null if nothing speaks against it. The page only knows the addresses:
 * a firewall may still be in the way.
 */
export function webhookProblem(forgeName: string, repositoryUrl: string, webhookUrl: string): string | null {
  const webhook = new URL(webhookUrl)
  const forgeHost = hostOf(repositoryUrl)
  if (isLoopback(webhook.hostname)) {
    // A forge on the same machine, as on a developer's computer.
    if (isLoopback(forgeHost)) return null
    return `${forgeName} cannot reach ${webhook.host}: on any other machine, this address means that machine itself.`
  }
  if (isPrivate(webhook.hostname) && !isPrivate(forgeHost)) {
    return `${forgeName} cannot reach ${webhook.host}: it is an address of a private network.`
  }
  if (webhook.protocol === 'http:' && !isPrivate(webhook.hostname)) {
    return `Deliveries from ${forgeName} to ${webhook.host} are not encrypted. Serve it over https.`
  }
  return null
}

/** The host of a repository URL, in each of the forms that git knows. */
function hostOf(url: string): string {
  const [, scp] = /^[^/@]+@([^/:]+):/.exec(url) ?? []
  if (scp !== undefined) return scp
  try {
    return new URL(url).hostname
  } catch {
    return ''
  }
}

function isLoopback(host: string): boolean {
  return /^(localhost|.*\.localhost|127(\.\d+){3}|0\.0\.0\.0|\[::1?\])$/i.test(host)
}

const privateHosts = [
  /^10\.|^192\.168\.|^169\.254\.|^172\.(1[6-9]|2\d|3[01])\.|^100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./,
  /^\[(f[cd]|fe[89ab])/i,
  // Names that only the resolver of a network knows: without a dot, or in a zone reserved for that.
  /^[^.[\]]+$/,
  /\.(local|internal|lan|home|home\.arpa|corp|intranet)$/i,
]

function isPrivate(host: string): boolean {
  return isLoopback(host) || privateHosts.some((pattern) => pattern.test(host))
}
