// Command harm is what scripts/cluster.sh and its like need beside a shell: it compares the
// arrays of checkpoints, looks on at a run that serves workers, and does it harm.
//
//	harm arrays REFERENCE CHECKPOINT …     exit code 1 where an array differs
//	harm watch KEY                         status as a line of JSON whenever it changes, until the run ends
//	harm kill KEY PID [PHASE]              SIGKILL while units of that phase, or any, are open; prints the phase
//	harm twice KEY                         has one in three units and answers sent a second time, until the run ends
//
// KEY is state/cluster.key of a run on this machine.
package main

import (
	"fmt"
	"os"
	"strconv"
)

func main() {
	args := os.Args[1:]
	var err error
	switch {
	case len(args) >= 3 && args[0] == "arrays":
		err = arrays(args[1], args[2:])
	case len(args) == 2 && args[0] == "watch":
		err = watch(args[1])
	case len(args) >= 3 && args[0] == "kill":
		var pid int
		if pid, err = strconv.Atoi(args[2]); err == nil && pid > 1 {
			err = kill(args[1], pid, append(args[3:], "")[0])
		}
	case len(args) == 2 && args[0] == "twice":
		err = twice(args[1])
	default:
		err = fmt.Errorf("no such order: %q", args)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
