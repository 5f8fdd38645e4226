import { Argument, type Command } from 'commander'
import { completionScripts } from './completion-scripts.ts'
import { visible } from './output.ts'

type Shell = keyof typeof completionScripts

/** `completion` prints a script for the shell, which runs `__complete` for every list of candidates. */
export function completionCommands(program: Command): void {
  program
    .command('completion')
    .summary('print a script that completes commands in your shell')
    .description('print a script that completes commands, options and, after login, the names of prompts')
    .addArgument(new Argument('<shell>').choices(Object.keys(completionScripts)))
    .addHelpText(
      'after',
      `
Examples:
  $ echo 'eval "$(promptledger completion bash)"' >> ~/.bashrc
  $ echo 'eval "$(promptledger completion zsh)"' >> ~/.zshrc       # after compinit
  $ promptledger completion fish > ~/.config/fish/completions/promptledger.fish`,
    )
    .action((shell: Shell) => {
      process.stdout.write(visible(completionScripts[shell]))
    })

  program
    .command('__complete', { hidden: true })
    .description('print candidates for the last of these words, one per line')
    .argument('[words...]')
    .action(async (words: string[]) => {
      const { candidatesFor } = await import('./candidates.ts')
      // A shell that waits for candidates has no place for an error.
      const lines = await candidatesFor(program, words).catch(() => [])
      process.stdout.write(visible(lines.map((line) => `${line}\n`).join('')))
    })
}
