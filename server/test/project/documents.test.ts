import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { inlineCode, pages, shellBlocks, simpleCommands } from '../../../testing/documented-commands.ts'
import { createProgram } from '../../src/cli/program.ts'

const root = new URL('../../../', import.meta.url)
const read = (file: string) => readFileSync(new URL(file, root), 'utf8')
const { scripts } = JSON.parse(read('package.json'))
const tools =
  'cd chmod claude cp createdb curl echo export git helm journalctl kubectl mkdir pg_ctl pip psql python3 sha256sum sleep ssh-keygen systemctl'.split(
    ' ',
  )

/** What is wrong with a command. One that is not `whole`, such as a mention in a sentence, may leave out what it needs. */
function problemWith([name = '', ...args]: string[], isWhole: boolean): string | null {
  if (name === 'npx') return problemWith(args, isWhole)
  if (/^(promptledger(@latest)?|\.\/promptledger-[\d.]+-linux-x64)$/.test(name)) return problemWithOurs(args, isWhole)
  if (name === 'npm') return problemWithNpm(args)
  if (name === 'docker') return problemWithDocker(args, isWhole)
  if (name === 'systemd-run') return problemWithUnit(args, isWhole)
  // In a checkout.
  if (name === 'node') return missingFile(args.filter((word) => /^[^-].*\.[jt]s$/.test(word)))
  if (/^(scripts|deploy)\//.test(name)) return missingFile([name])
  return tools.includes(name) ? missingFile(args.filter((word) => word.startsWith('deploy/'))) : `${name} is unknown`
}

function problemWithOurs(args: string[], isWhole: boolean): string | null {
  // A placeholder becomes a value that every option takes. Brackets are around what may be left out.
  let words = args.map((word) => word.replaceAll(/^\[|\]$/g, '').replace(/^(<.*>|…)$/, '1'))
  let command = createProgram()
  if (words[0] === 'help' || words.includes('--help') || args[0] === '<command>') return null
  words = words.filter((word) => word !== '--json')
  for (let [name] = words; name !== undefined && command.commands.length > 0; [name] = words) {
    // A group without a command lists: `audit --org 1`.
    const wanted: string = name.startsWith('-') ? 'list' : name
    const next = command.commands.find((each) => each.name() === wanted)
    if (next === undefined) return `there is no command ${name}`
    command = next
    if (wanted === name) words = words.slice(1)
  }
  const { operands, unknown } = command.parseOptions(words)
  const expected = command.registeredArguments
  if (unknown.length > 0) return `there is no option ${unknown[0]}`
  if (operands.length > expected.length && !expected.at(-1)?.variadic)
    return `${operands.at(-1)} is one argument too many`
  if (!isWhole) return null
  const missing = command.options.find(
    (each) => each.mandatory && command.getOptionValue(each.attributeName()) === undefined,
  )
  if (missing !== undefined) return `${missing.flags} is missing`
  return operands.length < expected.filter(({ required }) => required).length ? 'an argument is missing' : null
}

function problemWithNpm([command = '', name = '']: string[]): string | null {
  if (command === 'run') return name in scripts ? null : `package.json has no script ${name}`
  return ['audit', 'ci', 'install'].includes(command) || command in scripts ? null : `npm ${command} is unknown`
}

/** In a container is what the Dockerfile puts there: the package, and nothing of the checkout. */
function problemWithDocker(args: string[], isWhole: boolean): string | null {
  const isCompose = args[0] === 'compose'
  const [action = '', ...words] = args.slice(isCompose ? 1 : 0)
  const [target = '', ...command] = words.filter((word) => !word.startsWith('-'))
  if (isCompose && target !== '' && !read('compose.yaml').includes(`\n  ${target.split(':')[0]}:\n`))
    return `no service ${target}`
  if (action !== 'exec')
    return ['build', 'buildx', 'cp', 'inspect', 'run', 'up'].includes(action) ? null : `docker ${action}`
  return command[0] === 'promptledger' ? problemWith(command, isWhole) : `the image has no ${command.join(' ')}`
}

/** A command beside the service has the settings of its unit. */
function problemWithUnit(args: string[], isWhole: boolean): string | null {
  const unit = read('deploy/systemd/promptledger.service')
  const start = args.findIndex((word) => !word.startsWith('--'))
  for (const [, setting = ''] of args
    .slice(0, start)
    .join('\n')
    .matchAll(/^--(?:setenv|property)=(\S+)$/gm)) {
    if (!setting.startsWith('User=') && !unit.includes(setting)) return `the unit has no ${setting}`
  }
  return problemWith(args.slice(start), isWhole)
}

function missingFile(files: string[]): string | null {
  const missing = files.find((file) => !existsSync(new URL(file, root)))
  return missing === undefined ? null : `${missing} does not exist`
}

describe('The documentation', () => {
  test('every command in a block exists where it is to be run, with its options and all that it needs', () => {
    const commands = pages.flatMap((page) =>
      shellBlocks(page).flatMap(({ place, text }) => simpleCommands(text).map((words) => ({ place, words }))),
    )
    assert.ok(commands.length > 100, `${commands.length} commands`)
    assert.deepEqual(
      commands.flatMap(({ place, words }) => {
        const problem = problemWith(words, true)
        return problem === null ? [] : [`${place}: ${words.join(' ')}: ${problem}`]
      }),
      [],
    )
  })

  test('every command in a sentence exists, with its options', () => {
    const isCommand = /^(\w+=\S+ )*((npx|npm|node|docker|systemd-run) |promptledger( |$))/
    const commands = pages
      .flatMap(inlineCode)
      .filter(({ text }) => isCommand.test(text))
      .flatMap(({ place, text }) => simpleCommands(text).map((words) => ({ place, words })))
    assert.ok(commands.length > 100, `${commands.length} commands`)
    assert.deepEqual(
      commands.flatMap(({ place, words }) => {
        const problem = problemWith(words, false)
        return problem === null ? [] : [`${place}: ${words.join(' ')}: ${problem}`]
      }),
      [],
    )
  })
})
