import { ArrowDown, ArrowUp } from 'lucide-react'
import type { Key, ReactNode } from 'react'

export interface Column<Row, Field extends string = never> {
  header: string
  cell: (row: Row) => ReactNode
  align?: 'right'
  /** For the cells of this column. */
  className?: string
  /** For columns that need no visible header, such as row actions: only screen readers announce it. */
  isHeaderHidden?: boolean
  /** Makes the header a button that sorts by this field. */
  sort?: { field: Field; first: Sort<Field> }
}

/** A field to sort by: ascending, or descending with a leading `-`. */
type Sort<Field extends string> = Field | `-${Field}`

interface Props<Row, Field extends string> {
  caption: string
  /** The first column names the row. Screen readers announce it with every other cell. */
  columns: Column<Row, Field>[]
  rows: Row[]
  rowKey: (row: Row) => Key
  /** Shown instead of a table without rows. */
  empty?: ReactNode
  isDimmed?: (row: Row) => boolean
  sort?: Sort<Field>
  onSort?: (sort: Sort<Field>) => void
  /** `compact` sits inside other content; `hidden` is for screen readers, next to a chart. */
  variant?: 'framed' | 'compact' | 'hidden'
  className?: string
}

const variantClasses = { framed: 'table', compact: 'compact-table', hidden: 'visually-hidden' }

export function Table<Row, Field extends string = never>(props: Props<Row, Field>) {
  const { caption, columns, rows, rowKey, empty, isDimmed, sort, onSort, variant = 'framed', className = '' } = props
  if (rows.length === 0 && empty !== undefined) return empty
  const table = (
    <table className={`${variantClasses[variant]} ${className}`}>
      <caption className="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          {columns.map((column) => (
            <ColumnHeader key={column.header} column={column} current={sort} onSort={onSort} />
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={rowKey(row)} className={isDimmed?.(row) ? 'dimmed' : undefined}>
            {columns.map((column, i) => (
              <Cell key={column.header} column={column} row={row} isRowHeader={i === 0} />
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
  return variant === 'framed' ? <div className="table-frame">{table}</div> : table
}

interface HeaderProps<Row, Field extends string> {
  column: Column<Row, Field>
  current: Sort<Field> | undefined
  onSort: ((sort: Sort<Field>) => void) | undefined
}

function ColumnHeader<Row, Field extends string>({ column, current, onSort }: HeaderProps<Row, Field>) {
  const { header, sort, isHeaderHidden } = column
  if (sort === undefined) {
    return (
      <th scope="col" className={alignClass(column)}>
        {isHeaderHidden ? <span className="visually-hidden">{header}</span> : header}
      </th>
    )
  }
  const descending: Sort<Field> = `-${sort.field}`
  const direction = current === sort.field ? 'ascending' : current === descending ? 'descending' : undefined
  const opposite = direction === 'ascending' ? descending : sort.field
  return (
    <th scope="col" className={alignClass(column)} aria-sort={direction}>
      <button
        type="button"
        className="sort-button"
        onClick={() => onSort?.(direction === undefined ? sort.first : opposite)}
      >
        {header}
        {direction === 'ascending' && <ArrowUp aria-hidden="true" />}
        {direction === 'descending' && <ArrowDown aria-hidden="true" />}
      </button>
    </th>
  )
}

interface CellProps<Row, Field extends string> {
  column: Column<Row, Field>
  row: Row
  isRowHeader: boolean
}

function Cell<Row, Field extends string>({ column, row, isRowHeader }: CellProps<Row, Field>) {
  const { header, cell, className = '', isHeaderHidden } = column
  if (isRowHeader) {
    return (
      <th scope="row" className={className}>
        {cell(row)}
      </th>
    )
  }
  return (
    // On a phone the header row is hidden, and each cell shows its label instead.
    <td data-label={isHeaderHidden ? undefined : header} className={`${className} ${alignClass(column) ?? ''}`}>
      {cell(row)}
    </td>
  )
}

function alignClass({ align }: { align?: 'right' }): string | undefined {
  return align === 'right' ? 'align-right' : undefined
}
