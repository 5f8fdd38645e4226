import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { text } from 'node:stream/consumers'

/** Test files that leave nothing behind in their process. */
export const togetherPatterns = [
  'server/test/{domain,store,http,forges,project}/*.test.ts',
  'client/test/{errors,pages,resources,types}.test.ts',
]

// One more than the cores of a small machine: some tests wait.
const processes = 3

/**
 * Runs test files in a few processes and returns whether all passed. Loading our modules takes longer than most of these files,
 * so each process loads them once and runs its files in turn.
 */
export async function runTogether(files: string[], args: string[], env: NodeJS.ProcessEnv): Promise<boolean> {
  const statuses = await Promise.all(
    divide(files).map(async (share) => {
      const child = spawn(process.execPath, ['--test', '--test-isolation=none', ...args, ...share], {
        env,
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const [output, [status]] = await Promise.all([text(child.stdout), once(child, 'exit')])
      // In one piece: the reports of several processes would be mixed otherwise.
      process.stdout.write(output)
      return status
    }),
  )
  return statuses.every((status) => status === 0)
}

/** The files of each process, with about the same amount of code. */
function divide(files: string[]): string[][] {
  const shares = Array.from({ length: processes }, () => ({ bytes: 0, files: [] as string[] }))
  for (const { file, size } of files
    .map((file) => ({ file, size: statSync(file).size }))
    .sort((a, b) => b.size - a.size)) {
    const [share] = shares.sort((a, b) => a.bytes - b.bytes)
    share?.files.push(file)
    if (share !== undefined) share.bytes += size
  }
  return shares.map((share) => share.files)
}
