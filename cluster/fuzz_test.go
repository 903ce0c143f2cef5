package cluster

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/kestrel/vbks/wire"
)

// reads decodes a message and reports whether it stays what it is when it is sent on.
func reads[T any](b []byte) bool {
	v, err := wire.Decode[T](b)
	if err != nil {
		return true
	}
	again := wire.Encode(v)
	w, err := wire.Decode[T](again)
	return err == nil && bytes.Equal(wire.Encode(w), again)
}

// FuzzMessages sends anything as any message.
func FuzzMessages(f *testing.F) {
	f.Add(byte(0), wire.Encode(&hello{ID: "a", Name: "b", Lanes: 2}))
	f.Add(byte(1), wire.Encode(&welcome{Run: "r", Foundation: "f", LostAfter: 3}))
	f.Add(byte(2), wire.Encode(&note{Run: "r", Number: 3, Header: "h", Encoded: []byte{1, 2}, Homes: []string{"x", ""}}))
	f.Add(byte(3), wire.Encode(&unit{Run: "r", Phase: 1, Number: 2, Header: "h", Body: []byte("b")}))
	f.Add(byte(4), wire.Encode(&outcome{Run: "r", What: unitFailed, Why: "w", Seconds: 1.5}))
	f.Add(byte(5), wire.Encode(&beat{ID: "a", Units: 3, Holds: []int{1, 2, 3}}))
	f.Add(byte(6), wire.Encode(&leave{Who: []string{"a"}}))
	f.Add(byte(7), wire.Encode(&Status{Run: "r", Open: 2, Workers: []Standing{{ID: "a", Silent: 2}}}))
	f.Add(byte(8), wire.Encode(&order{Number: 3, Kind: "run", Body: []byte("b"), Alone: true, Files: []sent{{"/d/x.csv", "00", 7}}}))
	f.Add(byte(9), wire.Encode(&result{Body: []byte("b"), Archive: "abc"}))
	f.Fuzz(func(t *testing.T, kind byte, b []byte) {
		kinds := []func([]byte) bool{
			reads[hello], reads[welcome], reads[note], reads[unit], reads[outcome], reads[beat], reads[leave], reads[Status],
			reads[order], reads[result],
		}
		if k := int(kind) % len(kinds); !kinds[k](b) {
			t.Errorf("message %d changes when it is sent on: %x", k, b)
		}
	})
}

// FuzzTicket reads anything as a ticket: what is one is written as it was read.
func FuzzTicket(f *testing.F) {
	for _, owner := range []bool{false, true} {
		f.Add((&Ticket{Address: "h:4222", Pin: "ab", Seed: "SU", Owner: owner}).Bytes(), owner)
	}
	f.Add([]byte(ticketHead+"\naddress \nseed x\n"), false)
	path := filepath.Join(f.TempDir(), "ticket")
	f.Fuzz(func(t *testing.T, b []byte, owner bool) {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		one, err := ReadTicket(path, owner)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r\x00\x1b") {
				t.Errorf("%q", err)
			}
			return
		}
		if err := os.WriteFile(path, one.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		if again, err := ReadTicket(path, owner); err != nil || *again != *one {
			t.Errorf("%+v is read as %+v: %v", one, again, err)
		}
	})
}
