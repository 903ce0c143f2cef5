package main

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"example.com/kestrel/cluster"
	"example.com/kestrel/vbks/wire"
)

// owner connects to the server of a key, on this machine.
func owner(key string) (*nats.Conn, error) {
	text, err := os.ReadFile(key)
	if err != nil {
		return nil, err
	}
	id, err := cluster.ParseIdentity(text)
	if err != nil {
		return nil, err
	}
	t := id.OwnTicket()
	pair, err := nkeys.FromSeed([]byte(t.Seed))
	if err != nil {
		return nil, err
	}
	public, err := pair.PublicKey()
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(t.Address)
	if err != nil {
		return nil, err
	}
	options := []nats.Option{nats.Nkey(public, pair.Sign), nats.NoReconnect(), nats.Name("harm")}
	url := "nats://127.0.0.1:" + port
	if t.Pin != "" {
		url = "tls://127.0.0.1:" + port
		options = append(options, nats.Secure(&tls.Config{InsecureSkipVerify: true}))
	}
	return nats.Connect(url, options...)
}

// status asks the run how it stands.
func status(c *nats.Conn) (*cluster.Status, error) {
	m, err := c.Request("ask.how", nil, time.Second)
	if err != nil {
		return nil, err
	}
	return wire.Decode[cluster.Status](m.Data)
}

func watch(key string) error {
	c, err := owner(key)
	if err != nil {
		return err
	}
	defer c.Close()
	var last []byte
	for {
		s, err := status(c)
		if err != nil {
			return nil // it is over
		}
		for i := range s.Workers {
			s.Workers[i].Silent = 0
		}
		b, err := json.Marshal(s)
		if err != nil {
			return err
		}
		if !bytes.Equal(b, last) {
			fmt.Printf("%s\n", b)
		}
		last = b
		time.Sleep(100 * time.Millisecond)
	}
}

// kill kills a process once units of a phase are open, or has waited in vain for that.
func kill(key string, pid int, phase string) error {
	c, err := owner(key)
	if err != nil {
		return err
	}
	defer c.Close()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		s, err := status(c)
		if err != nil {
			return nil
		}
		if phase == "" || s.Phase == phase && s.Open > 0 {
			if p, err := os.FindProcess(pid); err == nil && p.Kill() == nil {
				fmt.Println(strings.ReplaceAll(s.Phase, " ", "_"))
			}
			return nil
		}
	}
	return nil
}

// twice sends units and answers again that others have sent, as a queue may, without what
// tells the server that they are the same.
func twice(key string) error {
	c, err := owner(key)
	if err != nil {
		return err
	}
	defer c.Close()
	n := 0
	for _, subject := range []string{"work.*", "done.*"} {
		_, err := c.Subscribe(subject, func(m *nats.Msg) {
			if m.Header.Get("Again") != "" || rand.IntN(3) > 0 {
				return
			}
			n++
			again := &nats.Msg{Subject: m.Subject, Data: m.Data, Header: nats.Header{"Again": []string{"1"}}}
			_ = c.PublishMsg(again) // else there is none
		})
		if err != nil {
			return err
		}
	}
	for {
		if _, err := status(c); err != nil {
			fmt.Println(n)
			return nil
		}
		time.Sleep(200 * time.Millisecond)
	}
}
