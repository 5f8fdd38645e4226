import { type Clone, gitFields } from './git.ts'

export interface Commit {
  sha: string
  parents: string[]
  author: { name: string; email: string }
  committer: { name: string; email: string }
  committedAt: number
  authoredAt: number
  /** The first line of the message. */
  subject: string
  /** The first paragraph in one line: a title may be wrapped. */
  title: string
  message: string
}

const fields = ['%H', '%P', '%an', '%ae', '%cn', '%ce', '%ct', '%at', '%s', '%B']
const maxMessageLength = 16_000

/** Streams `git log` for these revisions, newest first. */
export async function* readCommits(clone: Clone, revisions: string[]): AsyncGenerator<Commit> {
  const format = `--format=${fields.join('%x00')}`
  let values: string[] = []
  for await (const value of gitFields(clone, ['log', '-z', '--encoding=UTF-8', format, ...revisions, '--'], '\0')) {
    if (values.push(value) < fields.length) continue
    const [sha = '', parents = '', an = '', ae = '', cn = '', ce = '', committed, authored, title = '', text = ''] =
      values
    values = []
    const message = text.slice(0, maxMessageLength)
    yield {
      sha,
      parents: parents.split(' ').filter(Boolean),
      author: { name: an, email: ae },
      committer: { name: cn, email: ce },
      committedAt: Number(committed) * 1_000,
      authoredAt: Number(authored) * 1_000,
      subject: message.split('\n', 1)[0] ?? '',
      title,
      message,
    }
  }
}
