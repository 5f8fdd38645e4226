import { Argument, type Command } from 'commander'
import { visible } from './output.ts'

// Each script passes the words up to the cursor to `promptledger __complete`, so it never has to change with the commands. Names of
// prompts are chosen by others: bash inserts candidates as they are, so they are quoted; zsh and fish quote them on their own.

const bash = `# Completion of promptledger for bash.
_promptledger() {
  local typed="\${COMP_WORDS[COMP_CWORD]}" line
  local current="\${typed#[\\"\\']}"
  local words=("\${COMP_WORDS[@]:1:COMP_CWORD-1}" "\${current//\\\\/}")
  COMPREPLY=()
  while IFS= read -r line; do
    if [ "$line" = ':files' ]; then
      compopt -o default 2>/dev/null
      return
    fi
    line="\${line%%$'\\t'*}"
    case $typed in
      # Inside quotes a candidate cannot be quoted again.
      [\\"\\']*) case $line in *[!A-Za-z0-9\\ ._/+,-]*) continue ;; esac ;;
      *) printf -v line '%q' "$line" ;;
    esac
    COMPREPLY+=("$line")
  done < <(promptledger __complete -- "\${words[@]}" 2>/dev/null)
}
complete -F _promptledger promptledger
`

const zsh = `#compdef promptledger
# Completion of promptledger for zsh.
_promptledger() {
  local line
  local -a values shown
  while IFS= read -r line; do
    if [[ $line == ':files' ]]; then
      _files
      return
    fi
    values+=("\${line%%$'\\t'*}")
    if [[ $line == *$'\\t'* ]]; then
      shown+=("\${line%%$'\\t'*}  -- \${line#*$'\\t'}")
    else
      shown+=("$line")
    fi
  done < <(promptledger __complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)
  (( $#values )) && compadd -U -l -d shown -a values
}
compdef _promptledger promptledger
`

const fish = `# Completion of promptledger for fish.
function __promptledger_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l lines (promptledger __complete -- $words[2..-1] 2>/dev/null)
    if test "$lines" = ':files'
        __fish_complete_path (commandline -ct)
    else if set -q lines[1]
        printf '%s\\n' $lines
    end
end
complete -c promptledger -f -a '(__promptledger_complete)'
`

const completionScripts = { bash, zsh, fish }

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
