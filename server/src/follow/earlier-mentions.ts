import type { Commit } from '../git/commit.ts'
import { streamMessages } from '../git/log.ts'

// To look for more of them in each message takes git longer than to print all messages.
const maxNumbersToSearch = 20

/** Streams the commits of the default branch up to `from` that may name one of these pull requests, and perhaps others. */
export function streamMentions(
  mirror: string,
  from: string,
  numbers: number[],
  options: string[] = [],
): AsyncGenerator<Commit> {
  const isSearch = numbers.length <= maxNumbersToSearch
  const greps = isSearch ? ['--fixed-strings', ...numbers.flatMap((number) => ['--grep', String(number)])] : []
  return streamMessages(mirror, ['--first-parent', ...options, ...greps, from])
}
