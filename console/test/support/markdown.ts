/** The part of Markdown that comments on pull requests use, as HTML: paragraphs, tables, lists, links, code, bold and italics. */
export function renderMarkdown(text: string): string {
  return text.split('\n\n').map(renderBlock).join('\n')
}

function renderBlock(block: string): string {
  const lines = block.split('\n')
  if (/^\[\/\/\]: # /.test(block)) return ''
  if (block.startsWith('| ')) {
    const [head = '', , ...rows] = lines
    return `<table><thead>${renderRow(head, 'th')}</thead><tbody>${rows.map((row) => renderRow(row, 'td')).join('')}</tbody></table>`
  }
  if (block.startsWith('- ')) return `<ul>${lines.map((line) => `<li>${renderLine(line.slice(2))}</li>`).join('')}</ul>`
  return `<p>${renderLine(block)}</p>`
}

function renderRow(line: string, tag: 'th' | 'td'): string {
  const cells = line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, ''))
  return `<tr>${cells.map((cell) => `<${tag}>${renderLine(cell)}</${tag}>`).join('')}</tr>`
}

function renderLine(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/`([^`]*)`/g, '<code>$1</code>')
    .replaceAll(/\[((?:[^\]\\]|\\.)*)\]\(([^)]*)\)/g, '<a href="$2">$1</a>')
    .replaceAll(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
    .replaceAll(/^_(.+)_$/g, '<em>$1</em>')
    .replaceAll(/\\([\\`*_[\]|])/g, '$1')
}
