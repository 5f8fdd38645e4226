import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Command } from 'commander'
import { runCli } from '../../../testing/cli.ts'
import { createProgram } from '../../src/cli/program.ts'
import { isRemote } from '../../src/cli/remote/command.ts'

describe('The help of the CLI', () => {
  const program = createProgram()
  const help = (command: Command) => {
    let text = ''
    command.configureOutput({
      writeOut: (part) => {
        text += part
      },
    })
    command.outputHelp()
    return text
  }
  const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)]

  test('every command and option is described', () => {
    for (const command of all(program)) {
      assert.notEqual(command.description(), '', command.name())
      for (const option of command.options) assert.notEqual(option.description, '', `${command.name()} ${option.long}`)
    }
  })

  test('every command over HTTP has an example that starts with its name', () => {
    const remote = all(program).filter(isRemote)
    assert.deepEqual(
      remote.map((command) => command.name()),
      [
        ...['prompts', 'log', 'show', 'diff', 'blame', 'search', 'impact', 'regressions', 'revert', 'triage'],
        ...['try', 'trials', 'trial', 'tail'],
      ],
    )
    for (const command of remote) {
      const parent = command.parent === program ? '' : `${command.parent?.name()} `
      assert.match(help(command), new RegExp(`Examples?:\\n  \\$ promptledger ${parent}${command.name()}\\b`))
    }
  })

  test('help followed by a group and a command explains the command', async () => {
    for (const names of [['signals', 'tail'], ['key', 'create'], ['prompts']]) {
      const { code, stdout } = await runCli({}, ['help', ...names])
      assert.equal(code, 0)
      assert.match(stdout, new RegExp(`^Usage: promptledger ${names.join(' ')} `))
    }
  })

  test('commands over HTTP and commands on the database are listed apart', () => {
    const [, http = '', operator = ''] = help(program).split(/^(?:Over HTTP|Operator|Other).*:$/m)
    for (const name of ['login', 'prompts', 'log', 'signals']) assert.match(http, new RegExp(`^ {2}${name}\\b`, 'm'))
    for (const name of ['serve', 'org', 'prompt', 'restore']) assert.match(operator, new RegExp(`^ {2}${name}\\b`, 'm'))
    assert.doesNotMatch(help(program), /__complete/)
  })

  test('the program that only has serve explains it like the whole one', () => {
    const commandOf = (program: Command) => program.commands.find((command) => command.name() === 'serve') as Command
    const alone = createProgram('serve')
    assert.equal(alone.commands.length, 1)
    assert.equal(help(commandOf(alone)), help(commandOf(program)))
  })
})
