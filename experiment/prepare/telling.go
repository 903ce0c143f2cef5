package prepare

import "context"

// tellingKey is where a context has who is told what is being prepared.
type tellingKey struct{}

// Telling is a context whose preparations tell what they do where that takes longer
// than reading a table, in a few words, from any goroutine.
func Telling(ctx context.Context, tell func(step string)) context.Context {
	return context.WithValue(ctx, tellingKey{}, tell)
}

// say tells what is being done.
func say(ctx context.Context, step string) {
	if tell, ok := ctx.Value(tellingKey{}).(func(string)); ok {
		tell(step)
	}
}
