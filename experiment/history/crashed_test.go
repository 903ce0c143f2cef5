package history

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/internal/must"
)

// Nobody is told to wait for a run whose process is gone.
func TestFindingOfACrashedRun(t *testing.T) {
	dir := t.TempDir()
	must.OK(t, os.CopyFS(dir, os.DirFS("../testdata/runs/killed")))
	s, err := ReadSummary(dir)
	must.OK(t, err)
	if s.Fate != "crashed" {
		t.Fatalf("it has %s", s.Fate)
	}
	var text bytes.Buffer
	must.OK(t, s.WriteText(&text, time.Now()))
	if strings.Contains(s.Finding+text.String(), "Next: wait") {
		t.Errorf("%s\n%s", s.Finding, &text)
	}
}
