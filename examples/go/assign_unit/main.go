// Compute the arm of a unit in a trial, as the clients do. Needs Go 1.19 or newer and no modules.
package main

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
)

// position places a unit between 0 and 1: the first 53 bits of a hash of trial and unit.
func position(trial, unit string) float64 {
	digest := sha256.Sum256([]byte(trial + ":" + unit))
	return float64(binary.BigEndian.Uint64(digest[:8])>>11) / (1 << 53)
}

// arm is the same in every process and language. Raising the share only moves units from the control to the candidate.
func arm(trial, unit string, share float64) string {
	if position(trial, unit) < share {
		return "candidate"
	}
	return "control"
}

// Reads a JSON list of trials, units and shares from standard input, and prints the arm of each.
func main() {
	var units []struct {
		Trial, Unit string
		Share       float64
	}
	if err := json.NewDecoder(os.Stdin).Decode(&units); err != nil {
		panic(err)
	}
	for _, one := range units {
		fmt.Println(arm(one.Trial, one.Unit, one.Share))
	}
}
