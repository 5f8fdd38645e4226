export const encodings = ['br', 'gzip'] as const

export type Encoding = (typeof encodings)[number]

/** The first of these encodings, best first, that an Accept-Encoding header allows, or null. */
export function acceptedEncoding<Name extends string>(
  header: string | string[] = '',
  offered: readonly Name[],
): Name | null {
  const weights = new Map(
    String(header)
      .toLowerCase()
      .split(',')
      .map((part) => {
        const [name = '', weight = 'q=1'] = part.split(';').map((text) => text.trim())
        return [name, Number(weight.replace(/^q=/, ''))]
      }),
  )
  return offered.find((encoding) => (weights.get(encoding) ?? weights.get('*') ?? 0) > 0) ?? null
}
