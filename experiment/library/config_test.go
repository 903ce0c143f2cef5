package library

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"example.com/kestrel/experiment/config"
)

func TestConfigFor(t *testing.T) {
	dir := t.TempDir()
	table, file := filepath.Join(dir, "DATA.Csv.GZ"), filepath.Join(dir, "my.toml")
	if err := os.WriteFile(file, []byte("[data]\nsource = 'synthetic'\nkernel = 'SE'\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	set := []config.Override{config.TextOverride("seed", "7")}
	want, _ := config.ForTable(table, "", set)
	if got, err := ConfigFor(table, set); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, name := range []string{file, "fig1a"} {
		want, _ = config.Load(name, set)
		if got, err := ConfigFor(name, set); err != nil || !reflect.DeepEqual(got, want) || got.Settings.Seed != 7 {
			t.Errorf("%+v, %v", got, err)
		}
	}
}

func TestTableColumns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(path, []byte("t,place,y\n1,here,2\n3,there,4\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := config.ForTable(path, "t", nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := TableColumns(c)
	want := []TableColumn{{"t", 1, "number", "target"}, {"place", 2, "text", ""}, {"y", 3, "number", "input"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	c, _ = config.Load("fig1a", nil)
	if got, err := TableColumns(c); got != nil || err != nil {
		t.Errorf("synthetic data: %v, %v", got, err)
	}
}

// The paper's settings are the authors': few inducing inputs, and beliefs by local ELBOs as they are.
func TestAuthorsConfigs(t *testing.T) {
	for _, name := range []string{"fig1a", "fig1b", "fig1c", "fig1d", "swissgrid", "ieq"} {
		c, err := ConfigFor(name+"-authors", nil)
		if err != nil {
			t.Fatal(err)
		}
		if s := &c.Settings; s.Inducing == 0 || s.Errors != "ignore" || s.AutoPruneMass != 0 {
			t.Errorf("%s: %d inducing inputs, errors %q, pruning %v", name, s.Inducing, s.Errors, s.AutoPruneMass)
		}
		if name[:3] != "fig" {
			continue
		}
		if own, err := ConfigFor(name, nil); err != nil || own.Settings.Inducing != 0 || own.Settings.Errors == "ignore" {
			t.Errorf("%s: %v, %d inducing inputs, errors %q", name, err, own.Settings.Inducing, own.Settings.Errors)
		}
	}
}
