import type { Argument, Command, Option } from 'commander'
import { findHidden } from '../domain/hidden-text.ts'
import { isRemote } from './remote/command.ts'
import { findLogin, openConnection } from './remote/connection.ts'

// A person waits for the candidates.
const timeoutMs = 1_500
const maxPrompts = 100

/** Candidates for the last word, each with a tab and its description, or only `:files` where a file is expected. */
export async function candidatesFor(program: Command, words: string[]): Promise<string[]> {
  const current = words.at(-1) ?? ''
  const { command, operands, pending } = readWords(program, words.slice(0, -1))
  if (pending !== null) return startingWith(current, pending.argChoices ?? [])
  if (current.startsWith('-')) return startingWith(current, optionsOf(command).map(describeOption))
  if (command.commands.length > 0) {
    const visible = command.createHelp().visibleCommands(command)
    return startingWith(
      current,
      visible.map((each) => `${each.name()}\t${each.summary() || each.description()}`),
    )
  }
  const argument = argumentAt(command.registeredArguments, operands)
  if (argument === undefined) return []
  if (argument.argChoices) return startingWith(current, argument.argChoices)
  if (argument.name() === 'file') return [':files']
  return isRemote(command) && promptArguments.has(argument.name()) ? promptNames(current) : []
}

/** Arguments that start with a prompt. */
const promptArguments = new Set(['prompt', 'version', 'a', 'b'])

/** The command that the words lead to, how many operands it has, and the option that waits for its value. */
function readWords(program: Command, words: string[]) {
  let command = program
  let operands = 0
  let pending: Option | null = null
  for (const word of words) {
    if (pending !== null) {
      pending = null
      continue
    }
    if (word.startsWith('-')) {
      const option = optionsOf(command).find(({ long, short }) => word === long || word === short)
      pending = option?.required ? option : null
      continue
    }
    const subcommand = operands === 0 ? command.commands.find((each) => each.name() === word) : undefined
    if (subcommand === undefined) operands++
    else command = subcommand
  }
  return { command, operands, pending }
}

function optionsOf(command: Command): readonly Option[] {
  const help = command.createHelp()
  return [...help.visibleOptions(command), ...help.visibleGlobalOptions(command), ...(command.parent?.options ?? [])]
}

function describeOption({ long, short, description }: Option): string {
  return `${long ?? short}\t${description}`
}

function argumentAt(all: readonly Argument[], index: number): Argument | undefined {
  const last = all.at(-1)
  return all[index] ?? (last?.variadic ? last : undefined)
}

function startingWith(current: string, candidates: readonly string[]): string[] {
  return [...new Set(candidates)].filter((candidate) => candidate.startsWith(current))
}

async function promptNames(current: string): Promise<string[]> {
  const ledger = await openConnection(await findLogin(undefined), { timeout: timeoutMs, maxRetries: 0 })
  const { data } = await ledger.prompts.list({ q: current, sort: 'name', limit: maxPrompts })
  // A candidate is one line, must look like what it inserts, and must not be read as an option: `--url=…` would get the key.
  const names = data
    .map(({ name }) => name)
    .filter((name) => !/^-|\p{Cc}/u.test(name) && findHidden(name, 1).length === 0)
  const matching = names.filter((name) => name.startsWith(current))
  // A shell would replace the word by what several names have in common, which may be less than was typed.
  return matching.length > 0 || names.length > 1 ? matching : names
}
