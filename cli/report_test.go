package cli

import (
	"os"
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	t.Chdir(t.TempDir())
	tinyRun(t, "a run")
	for out, args := range map[string][]string{"a run/report.html": {"report", "a run"}, "page.html": {"report", "a run", "-o", "page.html"}} {
		if code, stdout, stderr := kestrel(t, args...); code != 0 || stdout != out+"\n" || stderr != "" {
			t.Fatalf("code %d %q %q", code, stdout, stderr)
		}
		page, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"<!DOCTYPE html>", "<strong>finished</strong>", "kestrel run &#39;a run/config.toml&#39; --headless",
			"</html>"} {
			if !strings.Contains(string(page), part) {
				t.Errorf("no %q in %s", part, out)
			}
		}
	}
	for _, c := range []struct{ args, want string }{
		{"", "report needs the directory of a run; for example kestrel report runs/…"},
		{"none", `run "none" does not exist`},
		{".", `run "." has no events.jsonl`},
		{"a\u00a0run -o none/page.html", `-o "none/page.html": there is no such folder`},
		{"a\u00a0run -o a\u00a0run/config.toml", `-o "a run/config.toml" is a file that the run "a run" keeps for itself; choose another name`},
	} {
		var args []string
		for word := range strings.SplitSeq(c.args, " ") {
			if word != "" {
				args = append(args, strings.ReplaceAll(word, "\u00a0", " "))
			}
		}
		if code, stdout, stderr := kestrel(t, append([]string{"report"}, args...)...); code != exitUsage ||
			stdout != "" || !strings.HasPrefix(stderr, "kestrel: "+c.want) {
			t.Errorf("%q: code %d %q %q", args, code, stdout, stderr)
		}
	}
}
