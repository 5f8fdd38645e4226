// Writes the Go examples from docs/openapi.json: `npm run snippets`, after `npm run openapi`.
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
  { operationId: 'createSignal', path: 'go/record_signal/main.go' },
  { operationId: 'listHistory', path: 'go/read_history/main.go' },
]

/** The text of each example, by its path in `examples/`. */
export async function createSnippets(): Promise<Map<string, string>> {
  const document = JSON.parse(await readFile(new URL('../docs/openapi.json', import.meta.url), 'utf8'))
  return new Map(snippets.map(({ operationId, path }) => [path, goFor(findCall(document.paths, operationId))]))
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
