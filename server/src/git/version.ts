import { git } from './run.ts'

/** git ignores `http.curloptResolve`, which pins a checked address, before this version. */
export const minGitVersion = [2, 37] as const

/** What `git version` prints. */
export async function readGitVersion(): Promise<string> {
  return (await git(['version'])).toString().trim()
}

export function isSupportedGit(version: string): boolean {
  const [major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(version) ?? []).slice(1).map(Number)
  return major > minGitVersion[0] || (major === minGitVersion[0] && minor >= minGitVersion[1])
}

let supported: Promise<boolean> | null = null

/** Whether the installed git can pin addresses. Asked once per process, and again after a failure. */
export function canPinAddresses(): Promise<boolean> {
  supported ??= readGitVersion().then(isSupportedGit)
  supported.catch(() => {
    supported = null
  })
  return supported
}
