// Search and versions. Both load scripts instead of fetching, so that the pages also work from a folder, without a server.
const root = document.currentScript.dataset.root
const field = document.querySelector('input[type=search]')
const results = document.querySelector('.results')
const versions = document.querySelector('select')

/** Loads a script once. */
const loaded = new Map()
function load(name) {
  if (!loaded.has(name)) {
    const script = Object.assign(document.createElement('script'), { src: `${root}/${name}` })
    loaded.set(name, new Promise((resolve, reject) => Object.assign(script, { onload: resolve, onerror: reject })))
    document.head.append(script)
  }
  return loaded.get(name)
}

let index
field.addEventListener('input', async () => {
  await Promise.all([load('minisearch.js'), load('search-index.js')])
  index ??= MiniSearch.loadJSON(searchIndex, searchOptions)
  const found = index.search(field.value, {
    prefix: true,
    fuzzy: 0.1,
    boost: { title: 4, name: 4 },
    boostDocument: (_place, _term, { weight }) => weight,
    combineWith: 'AND',
  })
  results.replaceChildren(...found.slice(0, 12).map(toItem))
  results.hidden = found.length === 0
})

function toItem({ title, page, place }) {
  const link = Object.assign(document.createElement('a'), { href: `${root}/${place}`, textContent: title })
  const item = document.createElement('li')
  item.append(link, title === page ? '' : ` ${page}`)
  return item
}

document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return
  event.preventDefault()
  field.focus()
})

load('../versions.js').then(() => {
  const current = versions.value
  versions.replaceChildren(...siteVersions.map((name) => new Option(name, name, false, name === current)))
})
versions.addEventListener('change', () => {
  location.href = `${root}/../${versions.value}/index.html`
})
