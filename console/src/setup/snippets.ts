interface Call {
  /** The origin of the service. */
  url: string
  key: string
  promptId: string
  /** The commit of the live version; null for a prompt without history. */
  version: string | null
}

export type Language = 'curl' | 'JavaScript' | 'Python' | 'Go'

/** Programs that record one positive signal, with nothing but the standard library. None of the values needs escaping. */
export const snippets: Record<Language, (call: Call) => string> = {
  curl: (call) => `curl -X POST "${addressOf(call)}" \\
  -H "Authorization: Bearer ${call.key}" \\
  -H "Content-Type: application/json" \\
  -d '${jsonOf(call)}'`,

  JavaScript: (call) => `const response = await fetch("${addressOf(call)}", {
  method: "POST",
  headers: {
    Authorization: "Bearer ${call.key}",
    "Content-Type": "application/json",
  },
  body: JSON.stringify({
${membersOf(call, '    ', (name) => name)}
  }),
});
console.log(response.status, await response.json());`,

  Python: (call) => `import json
import urllib.request

request = urllib.request.Request(
    "${addressOf(call)}",
    method="POST",
    headers={
        "Authorization": "Bearer ${call.key}",
        "Content-Type": "application/json",
    },
    data=json.dumps({
${membersOf(call, '        ', (name) => `"${name}"`)}
    }).encode(),
)
with urllib.request.urlopen(request, timeout=10) as response:
    print(response.status, response.read().decode())`,

  Go: (call) => `package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
)

func main() {
	address := "${addressOf(call)}"
	body := strings.NewReader(\`${jsonOf(call)}\`)
	request, err := http.NewRequest("POST", address, body)
	if err != nil {
		panic(err)
	}
	request.Header.Set("Authorization", "Bearer ${call.key}")
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		panic(err)
	}
	fmt.Println(response.Status, string(text))
}`,
}

function addressOf({ url, promptId }: Call): string {
  return `${url}/api/v1/prompts/${promptId}/signals`
}

/** The version decides which change a vote counts for, and the subject lets a user change it. */
function bodyOf({ version }: Call): [name: string, value: string][] {
  return [
    ['value', 'positive'],
    ...(version === null ? [] : [['version', version] as [string, string]]),
    ['subject', 'answer-1'],
  ]
}

function jsonOf(call: Call): string {
  return `{${bodyOf(call)
    .map(([name, value]) => `"${name}": "${value}"`)
    .join(', ')}}`
}

function membersOf(call: Call, indent: string, quoted: (name: string) => string): string {
  return bodyOf(call)
    .map(([name, value]) => `${indent}${quoted(name)}: "${value}",`)
    .join('\n')
}
