interface Call {
  /** The origin of the service. */
  url: string
  key: string
  promptId: string
}

export type Language = 'curl' | 'JavaScript' | 'Python' | 'Go'

/** Programs that record one positive signal, with nothing but the standard library. None of the three values needs escaping. */
export const snippets: Record<Language, (call: Call) => string> = {
  curl: (call) => `curl -X POST "${addressOf(call)}" \\
  -H "Authorization: Bearer ${call.key}" \\
  -H "Content-Type: application/json" \\
  -d '{"value": "positive"}'`,

  JavaScript: (call) => `const response = await fetch("${addressOf(call)}", {
  method: "POST",
  headers: {
    Authorization: "Bearer ${call.key}",
    "Content-Type": "application/json",
  },
  body: JSON.stringify({ value: "positive" }),
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
    data=json.dumps({"value": "positive"}).encode(),
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
	body := strings.NewReader(\`{"value": "positive"}\`)
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
