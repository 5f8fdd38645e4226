import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sourceFiles } from './source-files.ts'

// Rejects constructions that make a reader stop and parse: see "How we write" in CONTRIBUTING.md.

const constructions: [pattern: RegExp, instead: string][] = [
  [/\b(?:whoever|whomever|whosoever|whichever)\b/i, 'name the actor: the client, the caller, the operator'],
  [/\b(?:[Ss]omebody|[Aa]nybody|[Nn]obody)\b/, 'name the actor, or write "no client", "a user"'],
  [/\bthat there (?:is|are|was|were)\b/i, 'name the thing: "an unknown key", not "a key that there is not"'],
  [/\b(?:of|by|from|with|to|in) whom\b/i, 'start a new sentence with the actor as its subject'],
  [/\bof which\b/i, 'start a new sentence, or use "whose"'],
  [/\bby itself it\b/i, 'say what happens: "The service retries after 2 s"'],
  [/\bwhat is (?:lying|told|none|there)\b/i, 'name the thing'],
  [/\b(?:is|are|was|were) told (?:of|by)\b/i, 'say who notifies whom'],
  [/\b(?:anew|hitherto|therein|thereof|whence)\b/i, 'use a current word: again, new, resets'],
  // A digit before % is also JavaScript's remainder, so only what reads as prose counts.
  [/\bper cent\b|\d % (?:of|more|less|in|at|for|within)\b|\d %[.,;:)]/i, 'write 87%'],
]

/** Texts that are data: a licence, made-up prompts and what a person might say. */
const allowed = ['LICENSE', 'package-lock.json', 'scripts/check-wording.ts', 'server/src/demo/prompts/']

const root = fileURLToPath(new URL('../', import.meta.url))
const prose = [
  '*.md',
  '*.ts',
  '*.tsx',
  '*.css',
  '*.html',
  '*.sql',
  '*.yml',
  '*.yaml',
  '*.conf',
  '*.py',
  '*.go',
  '.env.example',
  'Dockerfile',
]
const problems = sourceFiles(root, prose)
  .filter((file) => !allowed.some((path) => file.startsWith(path)))
  .flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .flatMap((line, i) => problemsOf(`${file}:${i + 1}`, line)),
  )
for (const problem of problems) process.stderr.write(`${problem}\n`)
if (problems.length > 0) process.stderr.write(`\n${problems.length} places to reword.\n`)
process.exitCode = problems.length > 0 ? 1 : 0

function problemsOf(place: string, line: string): string[] {
  return constructions.flatMap(([pattern, instead]) => {
    const [found] = pattern.exec(line) ?? []
    return found === undefined ? [] : [`${place}: "${found}": ${instead}`]
  })
}
