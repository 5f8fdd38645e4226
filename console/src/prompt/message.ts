// What forges write first in a merge's message; the pull request's own title stands below it.
const mergeLine = /^(Merge pull request|Merge branch|Merged in) /

/** A commit's message, taken apart: what to call the change, and what else was said. Null where nothing was. */
export function readMessage(message: string | null): { title: string | null; rest: string } {
  const lines = message?.split('\n') ?? []
  const said = lines.findIndex((line) => line.trim() !== '')
  const below = lines.findIndex((line, i) => i > said && line.trim() !== '')
  const place = below !== -1 && mergeLine.test(lines[said] ?? '') ? below : said
  const title = lines[place]?.trim() ?? null
  return {
    title,
    rest: lines
      .slice(place + 1)
      .join('\n')
      .trim(),
  }
}
