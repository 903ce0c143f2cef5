package cli

import (
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/experiment/config"
)

// completions are what a shell is offered for the last of some words.
func completions(t *testing.T, words ...string) []string {
	t.Helper()
	code, stdout, _ := kestrel(t, append([]string{"__complete"}, words...)...)
	if code != 0 {
		t.Fatalf("%q: code %d, %s", words, code, stdout)
	}
	var out []string
	for line := range strings.Lines(stdout) {
		word, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !strings.HasPrefix(word, ":") {
			out = append(out, word)
		}
	}
	return out
}

func TestCompletions(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "sales.csv", "day,sales,price\n1,2,3\n2,3,4\n")
	for _, c := range []struct {
		words string // the last one is completed
		has   []string
		not   []string
	}{
		{"run --set ", []string{"name=", "data.source=", "posterior.errors="}, []string{"quickstart"}},
		{"run --set data.source=", []string{"data.source=csv", "data.source=ieq"}, nil},
		{"run --set kernels.base=SE,", []string{"kernels.base=SE,PER"}, []string{"kernels.base=SE,SE"}},
		{"run sales.csv --set data.inputs=day,", []string{"data.inputs=day,price"}, nil},
		{"run sales.csv --set data.target=price --target ", []string{"day", "sales", "price"}, nil},
		{"backtest sales.csv --group ", []string{"day"}, nil},
		{"compare --methods vbks,", []string{"vbks,bo", "vbks,cks"}, []string{"vbks,vbks"}},
		{"export runs/x --format ", []string{"csv", "json", "python"}, nil},
		{"predict runs/x --format ", []string{"csv", "json"}, nil},
		{"predict runs/x --weights ", []string{"tempered"}, []string{"auto"}},
		{"study --variant i,", []string{"i,ii"}, nil},
		{"run --device ", []string{"cpu", "cuda"}, nil},
		{"kernels ", []string{"K12", "PER"}, nil},
		{"run q", []string{"quickstart"}, nil},
		{"run quickstart --repeat ", nil, []string{"sales.csv"}},
	} {
		got := completions(t, strings.Split(c.words, " ")...)
		for _, want := range c.has {
			if !slices.Contains(got, want) {
				t.Errorf("%q is completed by %q, without %s", c.words, got, want)
			}
		}
		for _, no := range c.not {
			if slices.Contains(got, no) {
				t.Errorf("%q is completed by %s", c.words, no)
			}
		}
	}
}

// What --set is completed by is a key, and what follows it is taken.
func TestCompletedSettingsAreTaken(t *testing.T) {
	keys := completions(t, "run", "--set", "")
	if len(keys) != len(config.Keys()) {
		t.Errorf("%d keys of %d are completed", len(keys), len(config.Keys()))
	}
	for _, key := range keys {
		values := completions(t, "run", "--set", key)
		if strings.HasPrefix(key, "kernels.") && len(values) > 5 {
			values = values[:5]
		}
		for _, value := range values {
			o, err := config.ParseOverride(value)
			if err != nil {
				t.Fatal(err)
			}
			_, err = config.ForTable("x.csv", "", []config.Override{o})
			// Some need other keys besides.
			if err != nil && !strings.Contains(err.Error(), "is missing") && !strings.Contains(err.Error(), "needs") {
				t.Errorf("%s: %v", value, err)
			}
		}
	}
}

// Every kind of shell that the releases have a script for gets one.
func TestCompletionScripts(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if code, stdout, stderr := kestrel(t, "completion", shell); code != 0 || !strings.Contains(stdout, "__complete") || stderr != "" {
			t.Errorf("%s: code %d, %s", shell, code, stderr)
		}
	}
}
