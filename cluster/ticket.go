package cluster

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nkeys"
)

// Ticket is what lets a worker in: whoever has it may take part.
type Ticket struct {
	Address string // host:port
	Pin     string // SHA-256 of the run's certificate, hexadecimal; "": without TLS, on one machine
	Seed    string // NKey of workers
}

const ticketHead = "kestrel cluster ticket 1"

// Write writes a ticket where there is no file yet, for its owner only.
func (t *Ticket) Write(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s\naddress %s\npin %s\nseed %s\n", ticketHead, t.Address, t.Pin, t.Seed)
	return errors.Join(err, f.Close())
}

// ReadTicket reads a ticket. One that others could read is refused.
func ReadTicket(path string) (*Ticket, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && os.PathSeparator == '/' {
		return nil, fmt.Errorf("%s: others can read this ticket (mode %04o); it is a key: chmod 600 it, and make another one if somebody has",
			path, mode)
	}
	t := &Ticket{}
	lines := bufio.NewScanner(f)
	if !lines.Scan() || lines.Text() != ticketHead {
		return nil, fmt.Errorf("%s: no ticket of kestrel's; the run that serves writes one", path)
	}
	for lines.Scan() {
		key, value, _ := strings.Cut(lines.Text(), " ")
		switch key {
		case "address":
			t.Address = value
		case "pin":
			t.Pin = value
		case "seed":
			t.Seed = value
		}
	}
	if t.Address == "" || t.Seed == "" {
		return nil, fmt.Errorf("%s: the ticket is not whole", path)
	}
	return t, lines.Err()
}

// certificate makes a certificate for a run, and what it is known by.
func certificate() (cert tls.Certificate, pin string, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return cert, "", err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "kestrel"},
		NotBefore: now.Add(-24 * time.Hour), NotAfter: now.Add(10 * 365 * 24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return cert, "", err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pinOf(der), nil
}

func pinOf(der []byte) string { return fmt.Sprintf("%x", sha256.Sum256(der)) }

// pinned is how a worker speaks to a run: TLS 1.3 with the certificate that the ticket
// names, and no other, whoever has signed it.
func pinned(pin string) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		InsecureSkipVerify: true, // VerifyConnection does it
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 || pinOf(s.PeerCertificates[0].Raw) != pin {
				return errWrongServer
			}
			return nil
		},
	}
}

var errWrongServer = errors.New("another server than the ticket's answers; take the ticket of the run that serves now")

// keys makes a pair of NKeys.
func keys() (public, seed string, err error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return "", "", err
	}
	defer pair.Wipe()
	if public, err = pair.PublicKey(); err != nil {
		return "", "", err
	}
	b, err := pair.Seed()
	return public, string(b), err
}
