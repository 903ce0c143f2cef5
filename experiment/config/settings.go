package config

import (
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// EachSetting tells the keys of a resolved config in their order, and their
// values in a form that is the same for equal ones. Comments and the layout of
// the text do not matter. The time it takes grows with the text only.
func EachSetting(config string, take func(section, key, value string)) error {
	var p unstable.Parser
	p.Reset([]byte(config))
	section := ""
	for p.NextExpression() {
		switch e := p.Expression(); e.Kind {
		case unstable.Table, unstable.ArrayTable:
			section, _ = joinKey(e.Key())
		case unstable.KeyValue:
			key, _ := joinKey(e.Key())
			var b strings.Builder
			writeValue(&b, e.Value())
			take(section, key, b.String())
		}
	}
	return p.Error()
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
