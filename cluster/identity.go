package cluster

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/nats-io/nkeys"
)

// Identity is what a server is known by, and the keys of those whom it lets in: who serves
// with the same one again is found by the tickets of before.
type Identity struct {
	Address     string // where it was reached last; "": it has not served yet
	certificate []byte // DER; nil: without TLS
	key         []byte // PKCS #8
	workers     string // NKeys: of those who take part
	owners      string // and of those to whom the server belongs
}

const identityHead = "kestrel cluster key 1"

// NewIdentity makes one; without TLS it has no certificate.
func NewIdentity(insecure bool) (id *Identity, err error) {
	id = &Identity{}
	if !insecure {
		if id.certificate, id.key, err = certificate(); err != nil {
			return nil, err
		}
	}
	if _, id.workers, err = keys(); err == nil {
		_, id.owners, err = keys()
	}
	return id, err
}

// Bytes is what an identity is kept as, in a file that nobody else may read.
func (id *Identity) Bytes() []byte {
	text := base64.StdEncoding.EncodeToString
	return fmt.Appendf(nil, "%s\naddress %s\ncertificate %s\nkey %s\nworkers %s\nowners %s\n", identityHead, id.Address,
		text(id.certificate), text(id.key), id.workers, id.owners)
}

// ParseIdentity reads what Bytes returned.
func ParseIdentity(b []byte) (*Identity, error) {
	f, err := fields(b, identityHead)
	if err != nil {
		return nil, errors.New("no key of a cluster of kestrel's")
	}
	id := &Identity{Address: f["address"], workers: f["workers"], owners: f["owners"]}
	if id.certificate, err = base64.StdEncoding.DecodeString(f["certificate"]); err == nil {
		id.key, err = base64.StdEncoding.DecodeString(f["key"])
	}
	if err == nil && len(id.certificate) > 0 {
		_, err = id.tls()
	}
	if err != nil || id.workers == "" || id.owners == "" {
		return nil, errors.New("the key of the cluster is not whole")
	}
	return id, nil
}

// Insecure reports whether it serves without TLS.
func (id *Identity) Insecure() bool { return len(id.certificate) == 0 }

func (id *Identity) tls() (cert tls.Certificate, err error) {
	key, err := x509.ParsePKCS8PrivateKey(id.key)
	return tls.Certificate{Certificate: [][]byte{id.certificate}, PrivateKey: key}, err
}

// Ticket is what lets workers in.
func (id *Identity) Ticket() *Ticket {
	return &Ticket{Address: id.Address, Pin: id.pin(), Seed: id.workers}
}

// OwnTicket is what lets the owner in: runs that are served, and who asks for their workers.
func (id *Identity) OwnTicket() *Ticket {
	return &Ticket{Address: id.Address, Pin: id.pin(), Seed: id.owners, Owner: true}
}

func (id *Identity) pin() string {
	if id.Insecure() {
		return ""
	}
	return pinOf(id.certificate)
}

// fields are the lines "name value" of a file behind its head.
func fields(b []byte, head string) (map[string]string, error) {
	out, lines := map[string]string{}, bufio.NewScanner(bytes.NewReader(b))
	if !lines.Scan() || lines.Text() != head {
		return nil, errors.New("another head")
	}
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		out[name] = value
	}
	return out, lines.Err()
}

// certificate makes a certificate and its key.
func certificate() (der, private []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "kestrel"},
		NotBefore: now.Add(-24 * time.Hour), NotAfter: now.Add(10 * 365 * 24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if der, err = x509.CreateCertificate(rand.Reader, template, template, key.Public(), key); err != nil {
		return nil, nil, err
	}
	private, err = x509.MarshalPKCS8PrivateKey(key)
	return der, private, err
}

func pinOf(der []byte) string { return fmt.Sprintf("%x", sha256.Sum256(der)) }

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

// publicOf is the public half of a seed.
func publicOf(seed string) (string, error) {
	pair, err := nkeys.FromSeed([]byte(seed))
	if err != nil {
		return "", errors.New("the ticket has no key")
	}
	defer pair.Wipe()
	return pair.PublicKey()
}
