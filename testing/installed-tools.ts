import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** What some tests need beyond `npm ci`, and the Debian package that has it. `.ci/run` installs these packages. */
const packages = {
  bash: 'bash',
  chromium: 'chromium-headless-shell',
  curl: 'curl',
  fish: 'fish',
  go: 'golang-go',
  jq: 'jq',
  openssl: 'openssl',
  promtool: 'prometheus',
  python3: 'python3',
  script: 'bsdutils',
  ssh: 'openssh-client',
  'ssh-keygen': 'openssh-client',
  sshd: 'openssh-server',
  zsh: 'zsh',
}

export type Tool = keyof typeof packages

/** Whether a program is on the PATH, or where Debian has servers. */
export function isInstalled(tool: string): boolean {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
  return folders.some((folder) => folder !== '' && existsSync(join(folder, tool)))
}

/** Why tests that need the tools are skipped; false if they can run. In CI, a missing tool is an error. */
export function without(...tools: Tool[]): string | false {
  const missing = tools.find((tool) => !isInstalled(tool))
  return missing !== undefined && skipReason(missing, packages[missing])
}

/** Fails in CI, so that a test never stays skipped because `.ci/run` forgot a package. */
export function skipReason(tool: string, debianPackage: string): string {
  const reason = `${tool} is not installed (apt-get install ${debianPackage})`
  if (process.env.CI) throw new Error(`${reason}: see .ci/run`)
  return reason
}
