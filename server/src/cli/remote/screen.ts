import type { Command } from 'commander'
import { visibleJson, visibleLine } from '../output.ts'
import { readRemoteSettings } from './settings.ts'
import { paint, type Text } from './text.ts'

/** Prints the result of a command: one JSON value with --json, else lines, in colour on a terminal. */
export interface Screen {
  json: boolean
  /** Columns of the terminal; null if the output goes elsewhere, where lines may have any length. */
  width: number | null
  /** Columns for running text, wherever it goes. */
  textWidth: number
  value(value: unknown): void
  lines(lines: Text[]): void
  /** On stderr, and not with --json: programs read the output. */
  note(text: string): void
}

const maxTextWidth = 100

export function openScreen(command: Command): Screen {
  const { json = false, color } = command.optsWithGlobals<{ json?: boolean; color?: boolean }>()
  const { stdout } = process
  const colour = color === false ? false : (readRemoteSettings().colour ?? stdout.isTTY === true)
  const width = stdout.isTTY ? stdout.columns || 80 : null
  return {
    json,
    width,
    textWidth: Math.min(width ?? 80, maxTextWidth),
    value(value) {
      process.stdout.write(`${visibleJson(value)}\n`)
    },
    lines(lines) {
      process.stdout.write(lines.map((line) => `${paint(line, colour)}\n`).join(''))
    },
    note(text) {
      if (!json) process.stderr.write(`${visibleLine(text)}\n`)
    },
  }
}
