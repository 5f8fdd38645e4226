import { allocator } from '../service/allocator.ts'
import { type Finding, ok, warn } from './finding.ts'

/**
 * glibc reads the settings of its allocator when a process starts, so the service cannot make them for itself. The container sets
 * them for commands too. `npm start` and the systemd unit set them only for the service, whose environment is not visible here.
 */
export function checkAllocator(env: NodeJS.ProcessEnv, usesGlibc = hasGlibc()): Finding {
  if (!usesGlibc) return ok('allocator', 'needs no settings on this platform')
  const missing = Object.entries(allocator).filter(([name, value]) => env[name] !== value)
  if (missing.length === 0) return ok('allocator', 'returns freed memory to the system')
  const settings = missing.map(([name, value]) => `${name}=${value}`).join(' ')
  if (Object.keys(allocator).every((name) => env[name] === undefined)) {
    const known = 'npm start, the container and the systemd unit set it'
    return ok('allocator', `not checked: the environment of the service should have ${settings}. ${known}`)
  }
  return warn(
    'allocator',
    `a service with this environment keeps memory after a peak: it lacks ${settings}`,
    'Set them where the service is started, as npm start, the container and the systemd unit do',
  )
}

function hasGlibc(): boolean {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } }
  return header.glibcVersionRuntime !== undefined
}
