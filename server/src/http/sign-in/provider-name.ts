const names: [RegExp, string][] = [
  [/^accounts\.google\.com$/, 'Google'],
  [/^login\.microsoftonline\.(com|us)$/, 'Microsoft'],
  [/(^|\.)okta(preview)?\.com$/, 'Okta'],
  [/^gitlab\.com$/, 'GitLab'],
  [/^github\.com$/, 'GitHub'],
]

/** What people know the provider by: its name or, of one of their own, its host. */
export function providerName(issuer: string): string {
  const { hostname } = new URL(issuer)
  return names.find(([host]) => host.test(hostname))?.[1] ?? hostname
}
