// Create a signal. Needs Go 1.19 or newer and no modules.
package main

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
)

func main() {
	// The ID, name or path of the prompt, such as prompts/support.md.
	prompt := url.PathEscape(os.Getenv("PROMPTLEDGER_PROMPT"))
	address := os.Getenv("PROMPTLEDGER_URL") + "/api/v1/prompts/" + prompt + "/signals"
	request, err := http.NewRequest("POST", address, strings.NewReader(`{"value":"positive","subject":"answer-7c2e","version":"8f3a1c5","voter":"user-42","comment":"Short and clear."}`))
	if err != nil {
		panic(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PROMPTLEDGER_KEY"))
	request.Header.Set("Content-Type", "application/json")
	// Sending the request again with the same key records nothing new, so retries are safe.
	key := make([]byte, 16)
	rand.Read(key)
	request.Header.Set("Idempotency-Key", hex.EncodeToString(key))
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
