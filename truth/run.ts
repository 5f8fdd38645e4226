import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { checkClone } from './check.ts'
import { isTrue, toJson, toText } from './report.ts'

const forges = ['github', 'gitlab', 'gitea', 'forgejo', 'bitbucket']

const usage = `Compares a backfill with an independent reading of git, and prints what is right, missing, wrong or unknown.

npm run truth -- <path-to-clone> --path <glob> [options]

--path <glob>        the prompt files, as for 'promptledger repo connect'
--forge <forge>      ${forges.join(', ')} (default: github)
--url <url>          the repository's address, if the clone has no remote 'origin'
--similarity <n>     percentage of a moved file that must be unchanged (default: 50)
--sample <n>         texts, and authors of merges, to compare (default: 200)
--json               print one JSON value

The clone is only read. To check pull requests too, clone with 'git clone --mirror': a plain clone lacks their heads.
Exits with 1 if a class is below 99.9% or a pull request is invented, and with 2 on wrong usage.
`

const { values, positionals } = parsed()
const [path, ...rest] = positionals
const [similarity, sample] = [Number(values.similarity), Number(values.sample)]

if (values.help) process.stdout.write(usage)
else if (path === undefined || rest.length > 0 || values.path === undefined) fail('Pass one clone, and --path.')
else if (!forges.includes(values.forge)) fail(`Unknown forge ${values.forge}: use one of ${forges.join(', ')}.`)
else if (!(similarity >= 1 && similarity <= 100)) fail('--similarity must be between 1 and 100.')
else if (!(sample >= 0 && sample <= 100_000)) fail('--sample must be between 0 and 100,000.')
else await main(path, values.path)

function parsed() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        help: { type: 'boolean', default: false },
        path: { type: 'string' },
        forge: { type: 'string', default: 'github' },
        url: { type: 'string' },
        similarity: { type: 'string', default: '50' },
        sample: { type: 'string', default: '200' },
        json: { type: 'boolean', default: false },
      },
    })
  } catch (error) {
    fail((error as Error).message)
    process.exit(2)
  }
}

function fail(message: string): void {
  process.stderr.write(`${message}\n\n${usage}`)
  process.exitCode = 2
}

async function main(clone: string, glob: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'promptledger-truth-'))
  // It holds a copy of the repository, which can be large.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130))
  try {
    const log = (step: string) => process.stderr.write(`${step}\n`)
    const options = { forge: values.forge, url: values.url, glob, similarity, sample }
    // npm runs scripts in the folder of package.json.
    const path = resolve(process.env.INIT_CWD ?? '.', clone)
    const report = await checkClone(path, folder, options, log)
    process.stdout.write(`${values.json ? toJson(report) : toText(report)}\n`)
    process.exitCode = isTrue(report) ? 0 : 1
  } catch (error) {
    process.stderr.write(`truth: ${(error as Error).message}\n`)
    process.exitCode = 1
  }
}
