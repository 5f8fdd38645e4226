import { execFile } from 'node:child_process'
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { pages, type ShellBlock, shellBlocks, simpleCommands } from '../../testing/documented-commands.ts'
import { GitRepository } from '../../testing/git-repository.ts'
import { start } from '../first-verdict.ts'

const run = promisify(execFile)

// server/test/project/documents.test.ts checks these without running them.
const tools =
  /^(claude|createdb|docker|git|helm|kubectl|npm|pg_ctl|pip|psql|scripts\/.*|sha256sum|ssh-keygen|systemctl|systemd-run)$/

/** Blocks that need more than one machine: their first words, and why. */
const notRun: Record<string, string> = {
  'export PROMPTLEDGER_URL=': 'settings of the next blocks',
  'export GITHUB_TOKEN=': 'a private repository on GitHub',
  'npx promptledger repo connect --org 1 --forge github --url git@': 'ssh',
  'npx promptledger repo update': 'a repository on GitHub',
  'promptledger repo update': 'a repository on GitHub',
  'promptledger try': 'server/test/cli/trials.test.ts',
  'promptledger login': 'server/test/cli/login.test.ts',
  'promptledger prompts': 'server/test/cli/demo.test.ts, on the data of the demo',
  'A=postgres://': 'two PostgreSQL servers',
  "export DATABASE_URL='postgres://": 'a setting',
  "DATABASE_URL='postgres://": 'a setting',
  '# stop the service': 'Citus',
  'chmod +x promptledger-': 'a release',
  'curl https://ledger.example.com/api/v1/signals': 'server/test/http/opentelemetry.test.ts',
  'curl -X PUT https://ledger.example.com/api/v1/evaluations': 'server/test/http/opentelemetry.test.ts',
  'body=': 'server/test/http/sources.test.ts',
  'promptledger revert': 'server/test/cli/revert.test.ts',
}

/** What stands for something of the reader's. In each block, only what it contains is replaced. */
const ofTheReader: [from: string | RegExp, to: string][] = [
  [/http:\/\/(127\.0\.0\.1|localhost):\d+/g, '$ADDRESS'],
  ['https://github.com/acme/prompts.git', '$REPOSITORY'],
  [/(?<=["\s])\/backups\//g, 'backups/'],
  ['promptledger-2026-11-15.gz', 'promptledger-$(date +%F).gz'],
  [
    'npx promptledger restore backups/today.gz',
    'DATABASE_URL=sqlite:data/empty.db npx promptledger restore backups/today.gz',
  ],
  ['--org 3', '--org 1'],
  [/^npx promptledger\n/, 'mkdir new && cd new && npx promptledger\n'],
  [
    'DATABASE_URL=postgres://… npx',
    'DATA_DIR=elsewhere DATABASE_URL=sqlite:data/other.db npx promptledger migrate && DATABASE_URL=sqlite:data/other.db npx',
  ],
  // Follows until it is interrupted, sends to a host of others, and compares with a head of others.
  [/^npx promptledger signals tail.*\n/m, ''],
  [/^promptledger alert test.*\n/m, ''],
  [/^promptledger audit verify .*--head.*\n/m, ''],
]

/** Starts the service for `serve` and for no command, stops it as soon as it listens, and runs other commands as they are. */
const command = (program: string) => `#!/bin/bash
case "\${1:-serve}" in serve) ;; *) exec '${program}' "$@" ;; esac
exec 3< <(PORT=0 exec '${program}' "$@")
service=$!
while read -r -u 3 line; do case "$line" in *'listening on'*) kill "$service" ;; esac; done
wait "$service"
`

/** Runs the blocks of all pages as written, in a folder where the package is installed and the service runs. Returns what failed. */
export async function runDocuments(project: string, folder: string): Promise<{ ran: number; failed: string[] }> {
  const git = new GitRepository()
  git.commit('Start', { 'prompts/support.md': 'Be kind.\n' })
  git.push()
  for (const name of ['bin', 'backups', '.config/fish/completions'])
    await mkdir(join(folder, name), { recursive: true })
  await symlink(join(project, 'node_modules'), join(folder, 'node_modules'))
  await writeFile(join(folder, 'bin/promptledger'), command(join(folder, 'node_modules/.bin/promptledger')))
  await writeFile(join(folder, 'bin/npx'), '#!/bin/sh\nexec "$@"\n')
  for (const name of ['promptledger', 'npx']) await chmod(join(folder, 'bin', name), 0o755)
  const service = await start(folder, 'node')
  const env = {
    PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
    HOME: folder,
    ADDRESS: service.address,
    REPOSITORY: git.remote,
    SLACK_WEBHOOK_URL: 'https://hooks.slack.com/services/T0/B0/x',
    // The repository is a folder, which an import accepts only with this.
    ALLOW: 'local-repositories',
    PROMPT: '%2Fsample%2Fwelcome.md',
    ...Object.fromEntries(['URL', 'PROMPTLEDGER_URL'].map((name) => [name, service.address])),
    ...Object.fromEntries(['KEY', 'ADMIN_KEY', 'PROMPTLEDGER_KEY'].map((name) => [name, service.key])),
  }
  const blocks = pages.flatMap(shellBlocks)
  // An exception that no block needs would hide the next block that starts like it.
  const failed = Object.keys(notRun)
    .filter((beginning) => !blocks.some(({ text }) => text.startsWith(beginning)))
    .map((beginning) => `no block starts with ${beginning}`)
  let ran = 0
  try {
    for (const { place, text } of blocks.filter(canRun)) {
      const script = ofTheReader.reduce((code, [from, to]) => code.replace(from, () => to), text)
      const child = run(
        'bash',
        ['--norc', '-euo', 'pipefail', '-c', `curl() { command curl --fail-with-body "$@"; }\n${script}`],
        { cwd: folder, env },
      )
      // What `login` asks for.
      child.child.stdin?.on('error', () => {}).end(`${service.key}\n`)
      await child.catch(({ stdout, stderr }) => failed.push(`${place}: ${stdout}${stderr}`))
      ran++
    }
  } finally {
    await service.stop()
    git.remove()
  }
  return { ran, failed }
}

function canRun({ text }: ShellBlock): boolean {
  if (Object.keys(notRun).some((beginning) => text.startsWith(beginning))) return false
  return !simpleCommands(text).some(([name = '']) => tools.test(name))
}
