// Forges start merge messages with this line; the title of the pull request follows below.
const mergeLine = /^(Merge pull request|Merge branch|Merged in) /

/** Splits a commit message into the title of the change and its body. The title is null if the message is empty. */
export function parseMessage(message: string | null): { title: string | null; body: string } {
  const lines = message?.split('\n') ?? []
  const first = lines.findIndex((line) => line.trim() !== '')
  const second = lines.findIndex((line, i) => i > first && line.trim() !== '')
  const titleIndex = second !== -1 && mergeLine.test(lines[first] ?? '') ? second : first
  return {
    title: lines[titleIndex]?.trim() ?? null,
    body: lines
      .slice(titleIndex + 1)
      .join('\n')
      .trim(),
  }
}
