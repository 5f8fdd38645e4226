/** Text that is HTML already. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Part = Html | string | number | Part[]

/** Puts values into HTML; what is not HTML already is text and stays text. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(String.raw({ raw: strings }, ...parts.map(render)))
}

function render(part: Part): string {
  if (Array.isArray(part)) return part.map(render).join('')
  return part instanceof Html ? part.text : String(part).replaceAll(/[&<>"']/g, (sign) => entities[sign] as string)
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
