package launcher

import (
	"maps"
	"slices"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config"
)

// typesOf are what a column may be taken for, "" by itself: a text for no number, a number for all but a text.
func typesOf(kind string) []string {
	switch kind {
	case "number":
		return []string{"", datasets.TypeLevels, datasets.TypeFew, datasets.TypeFlag, datasets.TypeNumber, datasets.TypeTime}
	case "text":
		return []string{"", datasets.TypeLevels, datasets.TypeText}
	}
	return []string{""}
}

// statedType is what the user, or the config, takes a column for; "" what the data say.
func (c *choice) statedType(i int) string {
	if c.types == nil {
		return c.base.Data.Types[c.ref(i)]
	}
	return c.types[c.ref(i)]
}

// turnType takes the column under the cursor for something else, and in, as whoever says what it is means to.
func (c *choice) turnType() {
	if c.column >= len(c.columns) || !c.usable(c.column) {
		return
	}
	all := typesOf(c.columns[c.column].Kind)
	if len(all) < 2 {
		return
	}
	if c.types == nil {
		if c.types = maps.Clone(c.base.Data.Types); c.types == nil {
			c.types = map[string]string{}
		}
	}
	ref := c.ref(c.column)
	next := all[(slices.Index(all, c.types[ref])+1)%len(all)]
	c.types[ref] = next
	if c.inputs[c.column] = next != datasets.TypeText; !slices.Contains(c.inputs, true) {
		c.inputs[c.column] = true
	}
	if next == "" {
		delete(c.types, ref)
	}
}

// typesSet is what has been changed of the types.
func (c *choice) typesSet(add func(part, config.Override)) {
	if c.types != nil && !maps.Equal(c.types, c.base.Data.Types) {
		add(inputsPart, config.TypesOverride(c.types))
	}
}
