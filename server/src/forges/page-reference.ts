/** The URL of a pull request's page in a message, which names the repository as well. */
interface PageReference {
  number: number
  /** The repository's URL, as the message has it. */
  repositoryUrl: string
  /** Whether a bot or a tool wrote it, as `Part-of: <…>` or `PR-URL: …`. Otherwise it is a line of its own. */
  isTrailer: boolean
}

const maxParagraphLength = 8_000
const pageLine = /^(?:(Part-of|PR-URL): ?)?<?(https?:\/\/[^\s<>]{1,1000})>?$/i
const pageUrl = /^(.+?)(?:\/-)?\/(?:merge_requests|pulls?|pull-requests)\/([1-9]\d{0,8})\/?$/

/**
 * The page that the last paragraph names with a line of its own, as Marge Bot and the tools of some projects write it for each
 * commit. Elsewhere in a message, a URL mostly mentions another pull request.
 */
export function pageReferenceIn(message: string): PageReference | null {
  const text = message.trimEnd().replaceAll('\r\n', '\n')
  const paragraph = text.slice(text.lastIndexOf('\n\n') + 1).slice(-maxParagraphLength)
  // A message of one paragraph is a title.
  if (!text.includes('\n\n')) return null
  for (const line of paragraph.split('\n').reverse()) {
    const [, trailer, url = ''] = pageLine.exec(line.trim()) ?? []
    const [, repositoryUrl, digits] = pageUrl.exec(url) ?? []
    if (repositoryUrl === undefined) continue
    return { number: Number(digits), repositoryUrl, isTrailer: trailer !== undefined }
  }
  return null
}
