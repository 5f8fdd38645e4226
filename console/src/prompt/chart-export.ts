import { saveFile } from '../ui/save-file.ts'
import { visibleText } from '../ui/untrusted-text.tsx'
import { legendOf } from './chart-legend.tsx'
import { formatSpan } from './chart-tooltip.tsx'

interface Options {
  title: string
  span: [number, number]
  format: 'SVG' | 'PNG'
}

const copied = [
  'fill',
  'fill-opacity',
  'stroke',
  'stroke-width',
  'stroke-dasharray',
  'stroke-opacity',
  'opacity',
  'font-size',
  'font-weight',
  'text-anchor',
]
const namespace = 'http://www.w3.org/2000/svg'
const headHeight = 56
const legendHeight = 18
const margin = 16
const pngScale = 2

export async function downloadChart(chart: SVGSVGElement, { title, span, format }: Options): Promise<void> {
  const picture = pictureOf(chart, visibleText(title), formatSpan(...span))
  const svg = new XMLSerializer().serializeToString(picture)
  const name = `${title.replaceAll(/[^\p{L}\p{N}]+/gu, '-').replaceAll(/^-|-$/g, '') || 'prompt'}-feedback`
  if (format === 'SVG') saveFile(new Blob([svg], { type: 'image/svg+xml' }), `${name}.svg`)
  else saveFile(await toPng(svg, picture), `${name}.png`)
}

/** A copy of the chart that needs no style sheet, with a title, its dates and the legend. */
function pictureOf(chart: SVGSVGElement, title: string, dates: string): SVGSVGElement {
  const style = getComputedStyle(chart)
  const token = (name: string) => resolveColour(chart, `var(--${name})`)
  const width = chart.clientWidth + 2 * margin
  const chartHeight = chart.clientHeight
  const legend = legendOf(chart.querySelector('.chart-shift') !== null)
  const height = headHeight + chartHeight + legend.length * legendHeight + margin
  const picture = element('svg', { xmlns: namespace, width, height, viewBox: `0 0 ${width} ${height}` })
  picture.setAttribute('font-family', style.fontFamily)
  const copy = chart.cloneNode(true) as SVGSVGElement
  copyStyles(chart, copy)
  for (const part of copy.querySelectorAll('.chart-pointer, .chart-selection, .chart-marker-target')) part.remove()
  for (const part of copy.querySelectorAll('*')) removeHooks(part)
  const body = element('g', { transform: `translate(${margin} ${headHeight})` })
  body.append(...copy.childNodes)
  picture.append(
    element('rect', { width, height, fill: token('surface') }),
    text(title, { x: margin, y: 26, 'font-size': 16, 'font-weight': 650, fill: token('text') }),
    text(`User feedback, ${dates}`, { x: margin, y: 44, 'font-size': 12, fill: token('text-quiet') }),
    body,
  )
  const colours: Record<string, string> = {
    average: token('accent'),
    band: token('accent-soft'),
    line: token('line-strong'),
    few: token('line'),
    bar: token('count-fill'),
    shift: token('caution'),
    'dot better': token('better'),
    'dot worse': token('worse'),
  }
  for (const [i, { kind, label }] of legend.entries()) {
    const y = headHeight + chartHeight + 8 + i * legendHeight
    picture.append(
      element('rect', { x: margin, y: y + 2, width: 16, height: 8, fill: colours[kind] ?? 'none' }),
      text(label, { x: margin + 24, y: y + 11, 'font-size': 12, fill: token('text-quiet') }),
    )
  }
  return picture
}

function copyStyles(from: Element, to: Element): void {
  const style = getComputedStyle(from)
  for (const name of copied) to.setAttribute(name, style.getPropertyValue(name))
  for (const [i, child] of [...from.children].entries()) copyStyles(child, to.children[i] as Element)
}

function removeHooks(part: Element): void {
  for (const { name } of [...part.attributes]) {
    if (name === 'class' || name.startsWith('data-')) part.removeAttribute(name)
  }
}

/** A colour without variables, for files without our style sheet. */
function resolveColour(within: Element, colour: string): string {
  const probe = element('rect', {})
  within.append(probe)
  probe.style.fill = colour
  const resolved = getComputedStyle(probe).fill
  probe.remove()
  return resolved
}

function element<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Record<string, string | number>,
): SVGElementTagNameMap[Name] {
  const created = document.createElementNS(namespace, name)
  for (const [key, value] of Object.entries(attributes)) if (key !== 'xmlns') created.setAttribute(key, String(value))
  return created
}

function text(content: string, attributes: Record<string, string | number>): SVGTextElement {
  const created = element('text', attributes)
  created.textContent = content
  return created
}

async function toPng(svg: string, { width, height }: SVGSVGElement): Promise<Blob> {
  const image = new Image()
  // The policy of the page allows pictures from data URLs.
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`
  await image.decode()
  const canvas = document.createElement('canvas')
  canvas.width = width.baseVal.value * pngScale
  canvas.height = height.baseVal.value * pngScale
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height)
  return new Promise((resolve, reject) => {
    canvas.toBlob(
      (blob) => (blob === null ? reject(new Error('The picture is too large')) : resolve(blob)),
      'image/png',
    )
  })
}
