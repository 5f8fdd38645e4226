export interface Finding {
  check: string
  state: 'ok' | 'warning' | 'wrong'
  found: string
  /** What to do about it; null where all is well. */
  todo: string | null
}

export function ok(check: string, found: string): Finding {
  return { check, state: 'ok', found, todo: null }
}

export function warning(check: string, found: string, todo: string): Finding {
  return { check, state: 'warning', found, todo }
}

export function wrong(check: string, found: string, todo: string): Finding {
  return { check, state: 'wrong', found, todo }
}

/** Where looking itself fails, that is what was found. */
export async function looked(check: string, look: () => Finding | Promise<Finding>): Promise<Finding> {
  try {
    return await look()
  } catch (error) {
    return wrong(check, `it could not be looked at: ${reasonOf(error)}`, 'Mend that, then run this again')
  }
}

export function reasonOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException
  // Whatever the system or a server wrote there, it is one line.
  return (message || code || 'for no known reason').replaceAll(/\p{Cc}+/gu, ' ')
}
