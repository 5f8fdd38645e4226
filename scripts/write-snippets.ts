// Writes the Python and Go examples from docs/openapi.json: `npm run snippets`, after `npm run openapi`.
import { readFile, writeFile } from 'node:fs/promises'

interface Parameter {
  name: string
  in: string
}

interface Operation {
  operationId: string
  summary: string
  parameters: Parameter[]
  requestBody?: { content: { 'application/json': { examples: Record<string, { value: object }> } } }
}

interface Call {
  method: string
  path: string
  operation: Operation
}

const snippets = [
  { operationId: 'createSignal', python: 'python/record_signal.py', go: 'go/record_signal/main.go' },
  { operationId: 'listHistory', python: 'python/read_history.py', go: 'go/read_history/main.go' },
]

/** The text of each example, by its path in `examples/`. */
export async function createSnippets(): Promise<Map<string, string>> {
  const document = JSON.parse(await readFile(new URL('../docs/openapi.json', import.meta.url), 'utf8'))
  return new Map(
    snippets.flatMap(({ operationId, python, go }) => {
      const call = findCall(document.paths, operationId)
      return [
        [python, pythonFor(call)],
        [go, goFor(call)],
      ] as const
    }),
  )
}

function findCall(paths: Record<string, Record<string, Operation>>, operationId: string): Call {
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (operation.operationId === operationId) return { method: method.toUpperCase(), path, operation }
    }
  }
  throw new Error(`docs/openapi.json has no operation ${operationId}: update scripts/write-snippets.ts`)
}

/** The last example shows most of what a request can say. */
function exampleBody({ requestBody }: Operation): object | null {
  return Object.values(requestBody?.content['application/json'].examples ?? {}).at(-1)?.value ?? null
}

function takesIdempotencyKey({ parameters }: Operation): boolean {
  return parameters.some(({ name }) => name === 'Idempotency-Key')
}

function pythonFor({ method, path, operation }: Call): string {
  const body = exampleBody(operation)
  const isIdempotent = takesIdempotencyKey(operation)
  const headers = ['"Authorization": f"Bearer {key}",']
  if (body !== null) headers.push('"Content-Type": "application/json",')
  if (isIdempotent)
    headers.push(
      '# Sending the request again with the same key records nothing new, so retries are safe.',
      '"Idempotency-Key": str(uuid.uuid4()),',
    )
  return `"""${operation.summary}. Needs Python 3.9 or newer and no packages."""
import json
import os
import urllib.parse
import urllib.request
${isIdempotent ? 'import uuid\n' : ''}
url = os.environ["PROMPTLEDGER_URL"]
key = os.environ["PROMPTLEDGER_KEY"]
# The ID, name or path of the prompt, such as prompts/support.md.
prompt_id = urllib.parse.quote(os.environ["PROMPTLEDGER_PROMPT"], safe="")

request = urllib.request.Request(
    f"{url}${path}",
    method="${method}",
    headers={
${headers.map((line) => `        ${line}`).join('\n')}
    },
${body === null ? '' : `    data=json.dumps(${JSON.stringify(body).replaceAll('":', '": ').replaceAll(',"', ', "')}).encode(),\n`})
with urllib.request.urlopen(request, timeout=10) as response:
    print(json.dumps(json.load(response)["data"], indent=2))
`
}

function goFor({ method, path, operation }: Call): string {
  const body = exampleBody(operation)
  const isIdempotent = takesIdempotencyKey(operation)
  const imports = [
    ...(isIdempotent ? ['crypto/rand', 'encoding/hex'] : []),
    'fmt',
    'io',
    'net/http',
    'net/url',
    'os',
    ...(body === null ? [] : ['strings']),
  ]
  const [before, after] = path.split('{prompt_id}') as [string, string]
  return `// ${operation.summary}. Needs Go 1.19 or newer and no modules.
package main

import (
${imports.map((name) => `\t"${name}"`).join('\n')}
)

func main() {
\t// The ID, name or path of the prompt, such as prompts/support.md.
\tprompt := url.PathEscape(os.Getenv("PROMPTLEDGER_PROMPT"))
\taddress := os.Getenv("PROMPTLEDGER_URL") + "${before}" + prompt + "${after}"
\trequest, err := http.NewRequest("${method}", address, ${body === null ? 'nil' : `strings.NewReader(\`${JSON.stringify(body)}\`)`})
\tif err != nil {
\t\tpanic(err)
\t}
\trequest.Header.Set("Authorization", "Bearer "+os.Getenv("PROMPTLEDGER_KEY"))
${body === null ? '' : '\trequest.Header.Set("Content-Type", "application/json")\n'}${
  isIdempotent
    ? `\t// Sending the request again with the same key records nothing new, so retries are safe.
\tkey := make([]byte, 16)
\trand.Read(key)
\trequest.Header.Set("Idempotency-Key", hex.EncodeToString(key))
`
    : ''
}\tresponse, err := http.DefaultClient.Do(request)
\tif err != nil {
\t\tpanic(err)
\t}
\tdefer response.Body.Close()
\tbody, err := io.ReadAll(response.Body)
\tif err != nil {
\t\tpanic(err)
\t}
\tif response.StatusCode >= 300 {
\t\tfmt.Fprintln(os.Stderr, response.Status, string(body))
\t\tos.Exit(1)
\t}
\tfmt.Println(string(body))
}
`
}

if (import.meta.main) {
  for (const [path, text] of await createSnippets())
    await writeFile(new URL(`../examples/${path}`, import.meta.url), text)
}
