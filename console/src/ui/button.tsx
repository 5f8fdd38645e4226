import type { ButtonHTMLAttributes } from 'react'

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  kind?: 'primary' | 'plain' | 'danger'
  /** Something is under way: the button waits with it. */
  busy?: boolean
}

export function Button({ kind = 'plain', busy = false, disabled, className = '', children, ...rest }: Props) {
  return (
    <button
      type="button"
      className={`button ${kind} ${className}`}
      disabled={disabled || busy}
      aria-busy={busy}
      {...rest}
    >
      {children}
    </button>
  )
}
