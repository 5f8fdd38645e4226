import { ConnectionError } from './errors.ts'

/** The objects of an NDJSON response. */
export async function* parseLines<Item>(text: AsyncIterable<string>): AsyncGenerator<Item, void> {
  let rest = ''
  for await (const chunk of text) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() as string
    for (const line of lines) yield JSON.parse(line)
  }
  if (rest !== '') throw new ConnectionError('The export was cut off in the middle of a line')
}
