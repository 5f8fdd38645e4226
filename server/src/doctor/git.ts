import { isSupportedGit, minGitVersion, readGitVersion } from '../git/version.ts'
import { type Finding, fail, ok, reasonOf, warn } from './finding.ts'

/** Git is needed only for connected repositories. `repositories` is null if their number is unknown. */
export async function checkGit(repositories: number | null): Promise<Finding> {
  const isNeeded = repositories !== 0
  const report = isNeeded ? fail : warn
  const fix = `Install git ${minGitVersion.join('.')} or newer${isNeeded ? '' : ' before you connect a repository'}`
  let version: string
  try {
    version = await readGitVersion()
  } catch (error) {
    return report('git', reasonOf(error), fix)
  }
  return isSupportedGit(version) ? ok('git', version) : report('git', `${version} is too old`, fix)
}
