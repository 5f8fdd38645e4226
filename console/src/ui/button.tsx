import type { ButtonHTMLAttributes } from 'react'

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  kind?: 'primary' | 'plain' | 'danger'
  /** A request is in progress: the button is disabled until it ends. */
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
