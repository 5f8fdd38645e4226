import type { Command } from 'commander'
import type { Promptledger } from '../../../../client/src/index.ts'
import { formatCount, formatNumber } from '../output.ts'
import { explainErrors, findLogin, openConnection } from './connection.ts'
import { openScreen, type Screen } from './screen.ts'

/** A command that works over HTTP, with the options that all of these have. */
export function remoteCommand(parent: Command, name: string, examples: string[]): Command {
  const command = parent
    .command(name)
    .option('--url <url>', 'URL of the service, if not that of the login; its key is read from PROMPTLEDGER_KEY')
    .option('--no-color', 'print without colour')
    .addHelpText(
      'after',
      `\n${examples.length === 1 ? 'Example' : 'Examples'}:\n${examples.map((line) => `  $ ${line}`).join('\n')}`,
    )
  remoteCommands.add(command)
  return command
}

const remoteCommands = new WeakSet<Command>()

export function isRemote(command: Command): boolean {
  return remoteCommands.has(command)
}

/** Runs the action of such a command. */
export async function withLedger(
  command: Command,
  work: (ledger: Promptledger, screen: Screen) => Promise<void>,
): Promise<void> {
  const login = await findLogin(command.opts<{ url?: string }>().url)
  const ledger = await openConnection(login)
  await explainErrors(login.url, () => work(ledger, openScreen(command)))
}

interface ListPage<Item> {
  data: Item[]
  pagination: { total_pages: number; total_count: number }
}

const maxPageSize = 100

/** The first `count` items of a list, and how many it has. */
export async function take<Item extends { id: string | number } | { entry: { id: number } }>(
  count: number,
  fetchPage: (query: { page: number; limit: number }) => PromiseLike<ListPage<Item>>,
): Promise<{ items: Item[]; total: number }> {
  // Items that are added meanwhile push others onto the next page.
  const items = new Map<string | number, Item>()
  const limit = Math.min(count, maxPageSize)
  for (let page = 1; ; page++) {
    const { data, pagination } = await fetchPage({ page, limit })
    for (const item of data) items.set('id' in item ? item.id : item.entry.id, item)
    if (items.size >= count || page >= pagination.total_pages) {
      return { items: [...items.values()].slice(0, count), total: pagination.total_count }
    }
  }
}

/** Says how to see the items that `take` left out. */
export function noteRest(screen: Screen, items: unknown[], total: number, noun: string): void {
  if (total <= items.length) return
  screen.note(`${formatNumber(items.length)} of ${formatCount(total, noun)}. For more: -n ${total}`)
}
