import type { ExportFormat } from '@promptledger/client'
import { Download } from 'lucide-react'

const formats: ExportFormat[] = ['csv', 'ndjson']

interface Props {
  /** The exported items, for screen readers. */
  what: string
  hrefOf: (format: ExportFormat) => string
}

/** Links to exports of the API. The browser downloads them itself, authenticated by the session cookie. */
export function ExportLinks({ what, hrefOf }: Props) {
  return (
    <div className="page-actions">
      {formats.map((format) => (
        <a key={format} className="button plain" href={hrefOf(format)} download>
          <Download aria-hidden="true" />
          <span className="visually-hidden">Export {what} as </span>
          {format.toUpperCase()}
        </a>
      ))}
    </div>
  )
}
