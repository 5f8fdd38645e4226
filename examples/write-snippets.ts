// Writes the snippets in Python and Go from the OpenAPI document: `npm run snippets`, after `npm run openapi`.
import { readFile, writeFile } from 'node:fs/promises'

interface Parameter {
  name: string
  in: string
}

interface Operation {
  operationId: string
  summary: string
  parameters: Parameter[]
  requestBody?: { content: { 'application/json': { examples: { example_1: { value: object } } } } }
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

/** Each snippet by the path of its file, below this folder. */
export async function makeSnippets(): Promise<Map<string, string>> {
  const document = JSON.parse(await readFile(new URL('../docs/openapi.json', import.meta.url), 'utf8'))
  return new Map(
    snippets.flatMap(({ operationId, python, go }) => {
      const call = findCall(document.paths, operationId)
      return [
        [python, pythonOf(call)],
        [go, goOf(call)],
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
  throw new Error(`docs/openapi.json has no ${operationId}`)
}

function bodyOf({ requestBody }: Operation): object | null {
  return requestBody?.content['application/json'].examples.example_1.value ?? null
}

function isIdempotent({ parameters }: Operation): boolean {
  return parameters.some(({ name }) => name === 'Idempotency-Key')
}

function pythonOf({ method, path, operation }: Call): string {
  const body = bodyOf(operation)
  const once = isIdempotent(operation)
  const headers = ['"Authorization": f"Bearer {key}",']
  if (body !== null) headers.push('"Content-Type": "application/json",')
  if (once)
    headers.push(
      '# The same key again gives the same answer and counts once: repeat as often as you like.',
      '"Idempotency-Key": str(uuid.uuid4()),',
    )
  return `"""${operation.summary}. Python 3.9 or newer, nothing to install."""
import json
import os
import urllib.request
${once ? 'import uuid\n' : ''}
url = os.environ["PROMPTLEDGER_URL"]
key = os.environ["PROMPTLEDGER_KEY"]
prompt_id = os.environ["PROMPTLEDGER_PROMPT"]

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

function goOf({ method, path, operation }: Call): string {
  const body = bodyOf(operation)
  const once = isIdempotent(operation)
  const imports = [
    ...(once ? ['crypto/rand', 'encoding/hex'] : []),
    'fmt',
    'io',
    'net/http',
    'os',
    ...(body === null ? [] : ['strings']),
  ]
  const [before, after] = path.split('{prompt_id}') as [string, string]
  return `// ${operation.summary}. Go 1.19 or newer, standard library only.
package main

import (
${imports.map((name) => `\t"${name}"`).join('\n')}
)

func main() {
\turl := os.Getenv("PROMPTLEDGER_URL") + "${before}" + os.Getenv("PROMPTLEDGER_PROMPT") + "${after}"
\trequest, err := http.NewRequest("${method}", url, ${body === null ? 'nil' : `strings.NewReader(\`${JSON.stringify(body)}\`)`})
\tif err != nil {
\t\tpanic(err)
\t}
\trequest.Header.Set("Authorization", "Bearer "+os.Getenv("PROMPTLEDGER_KEY"))
${body === null ? '' : '\trequest.Header.Set("Content-Type", "application/json")\n'}${
  once
    ? `\t// The same key again gives the same answer and counts once: repeat as often as you like.
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
\tanswer, err := io.ReadAll(response.Body)
\tif err != nil {
\t\tpanic(err)
\t}
\tif response.StatusCode >= 300 {
\t\tfmt.Fprintln(os.Stderr, response.Status, string(answer))
\t\tos.Exit(1)
\t}
\tfmt.Println(string(answer))
}
`
}

if (import.meta.main) {
  for (const [path, text] of await makeSnippets()) await writeFile(new URL(path, import.meta.url), text)
}
