package cluster

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"os"
)

// Ticket is what lets somebody in: whoever has it may take part, or, with that of the owner,
// have runs served and workers sent away.
type Ticket struct {
	Address string // host:port
	Pin     string // SHA-256 of the server's certificate, hexadecimal; "": without TLS, on one machine
	Seed    string // NKey
	Owner   bool
}

const (
	ticketHead = "kestrel cluster ticket 1"
	ownerHead  = "kestrel cluster owner 1"
	mostTicket = 1 << 20 // bytes of a file
)

// Bytes is what a ticket is kept as, in a file that nobody else may read.
func (t *Ticket) Bytes() []byte {
	head := ticketHead
	if t.Owner {
		head = ownerHead
	}
	return fmt.Appendf(nil, "%s\naddress %s\npin %s\nseed %s\n", head, t.Address, t.Pin, t.Seed)
}

// ReadTicket reads a ticket, of a worker or of the owner. One that others could read is refused.
func ReadTicket(path string, owner bool) (*Ticket, error) {
	b, err := ReadSecret(path)
	if err != nil {
		return nil, err
	}
	f, err := fields(b, ticketHead)
	if own, isOwners := fields(b, ownerHead); isOwners == nil {
		f, err = own, nil
		if !owner {
			return nil, fmt.Errorf("%s: this is the owner's ticket; workers have one of their own, cluster.ticket", path)
		}
	} else if owner && err == nil {
		return nil, fmt.Errorf("%s: this is a ticket for workers; a run needs the owner's, owner.ticket", path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: no ticket of kestrel's; the run that serves writes one", path)
	}
	t := &Ticket{Address: f["address"], Pin: f["pin"], Seed: f["seed"], Owner: owner}
	if t.Address == "" || t.Seed == "" {
		return nil, fmt.Errorf("%s: the ticket is not whole", path)
	}
	return t, nil
}

// ReadSecret reads a file that nobody but its owner may be able to read.
func ReadSecret(path string) ([]byte, error) {
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
	return io.ReadAll(io.LimitReader(f, mostTicket))
}

// WriteSecret writes a file for its owner only, in the place of one that is there.
func WriteSecret(path string, b []byte) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}

// pinned is how a worker speaks to a server: TLS 1.3 with the certificate that the ticket
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
