import { Download } from 'lucide-react'

interface Props {
  title: string
  span: [number, number]
  findChart: () => SVGSVGElement | null
}

const formats = ['SVG', 'PNG'] as const

/** Saves the chart as a picture. */
export function ChartDownload({ title, span, findChart }: Props) {
  async function download(format: (typeof formats)[number]) {
    const chart = findChart()
    if (chart === null) return
    // Few people need it, so it is loaded when they do.
    const { downloadChart } = await import('./chart-export.ts')
    await downloadChart(chart, { title, span, format })
  }
  return (
    <span className="chart-download">
      {formats.map((format) => (
        <button
          key={format}
          type="button"
          className="text-button"
          aria-label={`Download the chart as ${format}`}
          onClick={() => download(format)}
        >
          <Download aria-hidden="true" />
          {format}
        </button>
      ))}
    </span>
  )
}
