// Get prompt history. Needs Go 1.19 or newer and no modules.
package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
)

func main() {
	// The ID, name or path of the prompt, such as prompts/support.md.
	prompt := url.PathEscape(os.Getenv("PROMPTLEDGER_PROMPT"))
	address := os.Getenv("PROMPTLEDGER_URL") + "/api/v1/prompts/" + prompt + "/history"
	request, err := http.NewRequest("GET", address, nil)
	if err != nil {
		panic(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PROMPTLEDGER_KEY"))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		panic(err)
	}
	if response.StatusCode >= 300 {
		fmt.Fprintln(os.Stderr, response.Status, string(body))
		os.Exit(1)
	}
	fmt.Println(string(body))
}
