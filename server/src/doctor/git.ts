import { git } from '../git/run.ts'
import { type Finding, fail, ok, reasonOf, warn } from './finding.ts'

const minVersion = [2, 31] as const

/** Git is needed only for connected repositories. `repositories` is null if their number is unknown. */
export async function checkGit(repositories: number | null): Promise<Finding> {
  const isNeeded = repositories !== 0
  const report = isNeeded ? fail : warn
  const fix = `Install git ${minVersion.join('.')} or newer${isNeeded ? '' : ' before you connect a repository'}`
  let version: string
  try {
    version = (await git(['version'])).toString().trim()
  } catch (error) {
    return report('git', reasonOf(error), fix)
  }
  const [major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(version) ?? []).slice(1).map(Number)
  const isOld = major < minVersion[0] || (major === minVersion[0] && minor < minVersion[1])
  return isOld ? report('git', `${version} is too old`, fix) : ok('git', version)
}
