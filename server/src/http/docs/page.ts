import {
  type Document,
  type Header,
  type Media,
  type Operation,
  type Parameter,
  type Reference,
  type Response,
  resolve,
  type Schema,
} from './openapi-document.ts'

interface Endpoint {
  path: string
  method: string
  operation: Operation
}

interface ErrorBody {
  error: { code: string; message: string }
}

/** Text that is already HTML. */
class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Part = Html | string | number | Part[]

/** Inserts values into HTML, escaping everything that is not already HTML. */
function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(String.raw({ raw: strings }, ...parts.map(render)))
}

function render(part: Part): string {
  if (Array.isArray(part)) return part.map(render).join('')
  return part instanceof Html
    ? part.text
    : String(part).replaceAll(/[&<>"']/g, (character) => entities[character] as string)
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

const empty = html``

/** The API reference as one page. Its script adds what needs one: docs/browser/page.js. */
export function renderDocsPage(document: Document, style: string): string {
  const endpoints = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]): Endpoint => ({ path, method, operation })),
  )
  const events = Object.entries(document.webhooks).map(([name, { post }]) => ({ name, operation: post }))
  const sections = document.tags.map((tag) => ({
    ...tag,
    endpoints: endpoints.filter(({ operation }) => operation.tags.includes(tag.name)),
    events: events.filter(({ operation }) => operation.tags.includes(tag.name)),
  }))
  const { title, version, summary, description } = document.info
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} API reference</title>
<style>${new Html(style)}</style>
<script type="module" src="/docs/page.js"></script>
</head>
<body>
<nav aria-label="Contents">
<p class="title"><a href="#top">${title}</a> <small>${version}</small></p>
<p class="back"><a href="/">Back to the console</a></p>
${sections.map(
  ({ name, endpoints, events }) => html`<p><a href="#tag-${name}">${name}</a></p>
<ul>${endpoints.map(({ method, path, operation }) => contentsLink(operation, `${method.toUpperCase()} ${path}`))}${events.map(
    ({ name, operation }) => contentsLink(operation, name),
  )}</ul>
`,
)}<p><a href="#objects">Objects</a></p>
<ul>${Object.keys(document.components.schemas).map((name) => html`<li><a href="#object-${name}">${name}</a></li>`)}</ul>
</nav>
<main id="top">
<h1>${title}</h1>
<p class="summary">${summary}.</p>
${prose(description)}
<p>The same as an OpenAPI document: <a href="/openapi.json">openapi.json</a></p>
${sections.map(
  ({ name, description, endpoints, events }) => html`<section>
<h2 id="tag-${name}">${name}</h2>
${prose(description)}
${endpoints.map((endpoint) => renderOperation(document, endpoint))}
${events.map(({ name, operation }) => renderEvent(document, name, operation))}
</section>
`,
)}<section>
<h2 id="objects">Objects</h2>
${Object.entries(document.components.schemas).map(
  ([name, schema]) => html`<article>
<h3 id="object-${name}">${name}</h3>
${fieldTable(schema)}
</article>
`,
)}</section>
</main>
</body>
</html>
`.text
}

function contentsLink({ operationId, summary }: Operation, title: string): Html {
  return html`<li><a href="#${operationId}" title="${title}">${summary}</a></li>`
}

function renderOperation(document: Document, { path, method, operation }: Endpoint): Html {
  const { operationId, summary, description, parameters = [], requestBody, security } = operation
  const responses = Object.entries(operation.responses).map(([status, response]) => ({
    status,
    response: resolve<Response>(document, response),
  }))
  const successes = responses.filter(({ status }) => status < '400')
  const failures = responses.filter(({ status }) => status >= '400')
  return html`<article data-operation="${operationId}">
<h3 id="${operationId}"><a href="#${operationId}">${summary}</a></h3>
<p class="endpoint"><b class="${method}">${method.toUpperCase()}</b> <code>${breakable(path)}</code></p>
${prose(description)}
${security?.length ? securityList(document, security) : empty}
${parameters.length > 0 ? html`<h4>Parameters</h4>${parameterTable(parameters)}` : empty}
${requestBody ? html`<h4>Body</h4>${bodyFields(document, requestBody.content)}` : empty}
<h4>Request</h4>
<pre><code>${curl(document, { path, method, operation })}</code></pre>
${successes.map(
  ({ status, response }) => html`<h4><span class="good">${status}</span> ${response.description}</h4>
${headerTable(document, response)}${bodies(response.content ?? {})}`,
)}
${failures.length > 0 ? html`<h4>Errors</h4>${errorTable(failures)}` : empty}
</article>
`
}

function renderEvent(document: Document, name: string, operation: Operation): Html {
  const { operationId, summary, description, parameters = [], requestBody, security = [] } = operation
  const content = requestBody?.content ?? {}
  return html`<article>
<h3 id="${operationId}"><a href="#${operationId}">${summary}</a></h3>
<p class="endpoint"><code>${name}</code></p>
${prose(description)}
${securityList(document, security)}
<h4>Headers</h4>${parameterTable(parameters)}
<h4>Body</h4>${bodies(content)}
</article>
`
}

function securityList({ components }: Document, security: Record<string, string[]>[]): Html {
  const schemes = security.flatMap((needed) => Object.keys(needed)).map((name) => components.securitySchemes[name])
  return html`<h4>${schemes.length > 1 ? 'Authentication: one of these headers' : 'Authentication'}</h4>
<dl>${schemes.map(
    (scheme) => html`<dt><code>${scheme?.name ?? 'Authorization'}</code></dt>
<dd>${inline(scheme?.description ?? '')}</dd>`,
  )}</dl>`
}

function parameterTable(parameters: Parameter[]): Html {
  return rows(
    parameters.map(({ name, in: place, required, description, schema }) => [
      html`<code>${name}</code> <small>${required ? place : html`${place}, optional`}</small>`,
      typeOf(schema),
      notes(description, schema),
    ]),
  )
}

function headerTable(document: Document, { headers = {} }: Response): Html {
  const own = ownHeaders(headers)
  if (own.length === 0) return empty
  return rows(
    own.map(([name, header]) => {
      const { description, schema } = resolve(document, header)
      return [html`<code>${name}</code> <small>header</small>`, typeOf(schema), notes(description, schema)]
    }),
  )
}

function errorTable(responses: { status: string; response: Response }[]): Html {
  return html`<div class="wide"><table class="errors">${responses.map(({ status, response }) => {
    const { headers = {}, content = {}, description } = response
    const example = Object.values(content)[0]?.examples?.example_1?.value as Partial<ErrorBody> | undefined
    const own = ownHeaders(headers).map(([name]) => html`<code>${name}</code>`)
    return html`<tr><td>${status}</td><td><code>${example?.error?.code ?? ''}</code></td>
<td>${inline(description)}${own.length > 0 ? html` With ${own}.` : empty}<br><q>${example?.error?.message ?? ''}</q></td></tr>`
  })}</table></div>`
}

/** Without the request ID, which every response has; the introduction covers it. */
function ownHeaders(headers: NonNullable<Response['headers']>): [string, Header | Reference][] {
  return Object.entries(headers).filter(([name]) => name !== 'X-Request-Id')
}

/** Without examples: the request shows one. */
function bodyFields(document: Document, content: Record<string, Media>): Html {
  return html`${Object.values(content).map(({ schema }) => fieldTable(resolve(document, schema)))}`
}

function bodies(content: Record<string, Media>): Html {
  return html`${Object.entries(content).map(([type, { schema, examples = {} }]) => {
    const isJson = type === 'application/json'
    return html`${isJson ? empty : html`<p><code>${type}</code></p>`}${fieldTable(schema)}
${Object.values(examples).map(({ value }) => html`<pre><code>${isJson ? JSON.stringify(value, null, 2) : String(value)}</code></pre>`)}`
  })}`
}

/** Named objects have their own table under "Objects"; anonymous ones are listed in place, field by field. */
function fieldTable(schema: Schema): Html {
  const fields = fieldsOf(schema, '')
  return fields.length === 0 ? html`<p>${typeOf(schema)}</p>` : rows(fields)
}

function fieldsOf({ properties = {}, required = [] }: Schema, prefix: string): Html[][] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const path = prefix + name
    const optional = required.includes(name) ? empty : html` <small>optional</small>`
    const row = [
      html`<code>${breakable(path)}</code>${optional}`,
      typeOf(schema),
      notes(schema.description ?? '', schema),
    ]
    const nested = schema.items ? fieldsOf(schema.items, `${path}[].`) : fieldsOf(schema, `${path}.`)
    return [row, ...nested]
  })
}

function rows(cells: Html[][]): Html {
  return html`<div class="wide"><table>${cells.map(
    (row) => html`<tr>${row.map((cell) => html`<td>${cell}</td>`)}</tr>`,
  )}</table></div>`
}

function typeOf({ $ref, type, enum: values, const: constant, items, format, anyOf }: Schema): Html {
  if ($ref !== undefined) {
    const name = $ref.slice($ref.lastIndexOf('/') + 1)
    return html`<a href="#object-${name}">${name}</a>`
  }
  if (constant !== undefined) return html`<code>${JSON.stringify(constant)}</code>`
  if (values !== undefined) return alternatives(values.map((value) => html`<code>${JSON.stringify(value)}</code>`))
  if (anyOf !== undefined) return alternatives(anyOf.map(typeOf))
  return alternatives(
    [type ?? 'any'].flat().map((name) => {
      if (name === 'array' && items !== undefined) return html`array of ${typeOf(items)}`
      return html`${name === 'string' && format === 'date-time' ? 'time' : name}`
    }),
  )
}

function alternatives(options: Html[]): Html {
  return html`${options.map((option, index) => (index === 0 ? option : html` or ${option}`))}`
}

function notes(description: string, { default: defaultValue, minimum, maximum }: Schema): Html {
  const bounds = [
    ...(minimum !== undefined && maximum !== undefined ? [`${minimum} to ${maximum}`] : []),
    ...(minimum !== undefined && maximum === undefined ? [`at least ${minimum}`] : []),
    ...(minimum === undefined && maximum !== undefined ? [`at most ${maximum}`] : []),
    ...(defaultValue === undefined ? [] : [`default ${JSON.stringify(defaultValue)}`]),
  ]
  return html`${inline(description)}${bounds.length > 0 ? html` <small>${bounds.join(', ')}</small>` : empty}`
}

/** The request as a curl command. */
function curl({ components }: Document, { path, method, operation }: Endpoint): string {
  const { parameters = [], requestBody, security } = operation
  const parametersIn = (place: Parameter['in']) => parameters.filter((parameter) => parameter.in === place)
  const url = parametersIn('path').reduce(
    (url, { name, schema }) => url.replace(`{${name}}`, exampleOf(schema, name)),
    path,
  )
  const query = parametersIn('query')
    .filter(({ schema }) => schema.examples !== undefined)
    .map(({ name, schema }) => `${name}=${encodeURIComponent(exampleOf(schema, name))}`)
  const address = query.length === 0 ? url : `${url}?${query.join('&')}`
  const headers = parametersIn('header').map(({ name, schema }) => `-H ${quote(`${name}: ${exampleOf(schema, name)}`)}`)
  const [scheme] = security?.map((needed) => components.securitySchemes[Object.keys(needed)[0] ?? '']) ?? []
  const body = Object.values(requestBody?.content ?? {})[0]?.examples?.example_1?.value
  return [
    `curl${method === 'get' ? '' : ` -X ${method.toUpperCase()}`} "$BASE_URL"${quote(address)}`,
    ...(security === undefined || scheme?.scheme === 'bearer' ? ['-H "Authorization: Bearer $API_KEY"'] : []),
    ...(scheme?.name === undefined ? [] : [`-H '${scheme.name}: …'`]),
    ...headers,
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d ${quote(JSON.stringify(body, null, 2))}`]),
  ].join(' \\\n  ')
}

function exampleOf({ examples: [example] = [] }: Schema, name: string): string {
  return String(example ?? `<${name}>`)
}

function quote(text: string): string {
  return /^[\w/.-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** Renders paragraphs, and code between backticks. */
function prose(text: string): Html {
  return html`${text
    .split(/\n{2,}/)
    .filter((paragraph) => paragraph !== '')
    .map((paragraph) => html`<p>${inline(paragraph)}</p>\n`)}`
}

function inline(text: string): Html {
  return html`${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`
}

/** Lets long names wrap after a slash or dot. */
function breakable(name: string): Html {
  return html`${name.split(/(?<=[/.])/).map((part, index) => (index === 0 ? part : html`<wbr>${part}`))}`
}
