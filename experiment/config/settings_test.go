package config

import "testing"

// What people read of a value has no kinds in it, what is compared tells text from numbers.
func TestSettingsForPeople(t *testing.T) {
	const text = "name = \"a\"\n[kernels]\nexpressions = [\"CP(CONST,CONST)\", # a step\n \"CP(RW,RW)\"]\nnone = []\n" +
		"[data]\nseed = 1\nrow = \"1\"\nfile = \"\"\nprune = {below = 0.5, keep = 3}\n"
	want := map[string]string{"name": "a", "expressions": "CP(CONST,CONST), CP(RW,RW)", "none": "none", "seed": "1", "row": "1", "file": `""`,
		"prune": "below = 0.5, keep = 3"}
	values := map[string]string{}
	err := EachSettingShown(text, func(_, key, value, shown string) {
		if values[key] = value; shown != want[key] {
			t.Errorf("%s is shown as %q, want %q", key, shown, want[key])
		}
	})
	if err != nil || len(values) != len(want) || values["seed"] == values["row"] {
		t.Errorf("%v, %q", err, values)
	}
}
