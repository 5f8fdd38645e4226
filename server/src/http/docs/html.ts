/** Text that is already HTML. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Part = Html | string | number | Part[]

/** Inserts values into HTML, escaping everything that is not already HTML. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(String.raw({ raw: strings }, ...parts.map(render)))
}

function render(part: Part): string {
  if (Array.isArray(part)) return part.map(render).join('')
  return part instanceof Html
    ? part.text
    : String(part).replaceAll(/[&<>"']/g, (character) => entities[character] as string)
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
