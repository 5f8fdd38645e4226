const minLength = 8
const charactersPerEdit = 5

/** The name that `name` is probably a misspelling of, or null. Short names are not guessed: too many others are close to them. */
export function closestName(name: string, names: string[]): string | null {
  const close = names
    .filter((meant) => meant.length >= minLength && Math.abs(meant.length - name.length) <= maxEdits(meant))
    .map((meant) => ({ meant, edits: editsBetween(name, meant) }))
    .filter(({ meant, edits }) => edits <= maxEdits(meant))
    .sort((a, b) => a.edits - b.edits)
  return close[0]?.meant ?? null
}

function maxEdits(name: string): number {
  return name.length / charactersPerEdit
}

/** The number of letters to insert, delete or replace (Levenshtein). */
function editsBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] as number) + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1))
    }
    row = next
  }
  return row[to.length] as number
}
