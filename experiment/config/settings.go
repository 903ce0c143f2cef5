package config

import (
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// EachSetting tells the keys of a resolved config in their order, and their
// values in a form that is the same for equal ones. Comments and the layout of
// the text do not matter. The time it takes grows with the text only.
func EachSetting(config string, take func(section, key, value string)) error {
	return eachNode(config, func(section, key string, n *unstable.Node) {
		var b strings.Builder
		writeValue(&b, n)
		take(section, key, b.String())
	})
}

// EachSettingShown is EachSetting with each value as people read it, too, which may be the same
// for different ones: the text 1 and the number.
func EachSettingShown(config string, take func(section, key, value, shown string)) error {
	return eachNode(config, func(section, key string, n *unstable.Node) {
		var b strings.Builder
		writeValue(&b, n)
		take(section, key, b.String(), forPeople(n))
	})
}

// eachNode visits the values of a config.
func eachNode(config string, visit func(section, key string, n *unstable.Node)) error {
	var p unstable.Parser
	p.Reset([]byte(config))
	section := ""
	for p.NextExpression() {
		switch e := p.Expression(); e.Kind {
		case unstable.Table, unstable.ArrayTable:
			section, _ = joinKey(e.Key())
		case unstable.KeyValue:
			key, _ := joinKey(e.Key())
			visit(section, key, e.Value())
		}
	}
	return p.Error()
}

// forPeople is a value for people: without what kind it is of.
func forPeople(n *unstable.Node) string {
	switch n.Kind {
	case unstable.KeyValue:
		key, _ := joinKey(n.Key())
		return key + " = " + forPeople(n.Value())
	case unstable.Array, unstable.InlineTable:
		var all []string
		for it := n.Children(); it.Next(); {
			if it.Node().Kind != unstable.Comment {
				all = append(all, forPeople(it.Node()))
			}
		}
		if len(all) == 0 {
			return "none"
		}
		return strings.Join(all, ", ")
	}
	if len(n.Data) == 0 {
		return `""`
	}
	return string(n.Data)
}

// writeValue writes a value of TOML; its kind tells the text 1 from the number.
func writeValue(b *strings.Builder, n *unstable.Node) {
	switch n.Kind {
	case unstable.Comment:
	case unstable.KeyValue:
		key, _ := joinKey(n.Key())
		b.WriteString(key + " = ")
		writeValue(b, n.Value())
	case unstable.Array, unstable.InlineTable:
		b.WriteString(n.Kind.String() + "[")
		for it := n.Children(); it.Next(); {
			writeValue(b, it.Node())
			b.WriteString(", ")
		}
		b.WriteString("]")
	default:
		b.WriteString(n.Kind.String() + " ")
		b.Write(n.Data)
	}
}
