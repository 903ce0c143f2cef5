package ui

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
)

// In virtual time: events that come every millisecond reach the screen in at
// most one message per frame, all of them, and the waiting ends with the context.
func TestOneMessageAFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		box := newMailbox()
		const events = 3000
		began := time.Now()
		go func() {
			for i := range events {
				if err := box.Record(&record.Event{Type: record.EventNotice, Seconds: files.Number(i)}); err != nil {
					t.Error(err)
				}
				time.Sleep(time.Millisecond)
			}
		}()
		seen, messages := 0, 0
		for seen < events {
			for _, e := range box.next(ctx)().(frameMsg).events {
				if int(e.Seconds) != seen {
					t.Fatalf("event %v where %d was due", e.Seconds, seen)
				}
				seen++
			}
			messages++
		}
		if most := int(time.Since(began)/frameTime) + 1; messages > most {
			t.Errorf("%d messages in %v, more than %d frames", messages, time.Since(began), most)
		}
		ended := make(chan bool)
		go func() { ended <- box.next(ctx)() == nil }()
		synctest.Wait()
		cancel()
		if !<-ended {
			t.Error("a message after the end")
		}
	})
}
