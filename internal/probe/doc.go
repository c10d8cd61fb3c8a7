// Package probe sends the requests and records what became of each: the world
// in, samples out.
//
// The flow, from a slot of the schedule to a line of the record:
//
//	pace ── slots at their time ──► queue ──► kept workers ─┐    (schedule.go, queue.go, kept.go)
//	pace ── a goroutine a slot ─────────────► fresh, slow ──┤    (spread.go)
//	                                                        ▼
//	             client.do: dial ─ TLS ─ write ─ head ─ body     (client.go, conn.go, message.go)
//	                                                        │
//	             judge: class, phase, who answered, evidence     (judge.go, classify.go, extract.go,
//	                                                        │        redirect.go, whole.go)
//	                                                        │
//	             sink(sample) ──► on a failure: follow-ups       (probe.go, followup.go)
//
// Nothing is repeated behind the record's back. A connection is dialled to one
// address, owned by one goroutine at a time and written to and read from here;
// a request is sent once; a redirect is an answer. The one thing that is not a
// failure is the close of an idle connection that is seen before a request is
// written to it: that is a reconnect (idle.go).
//
// The protocol is HTTP/1.1. All that depends on it is in conn.go, message.go,
// idle.go and client.go's open and exchange: another protocol needs its own
// dial, a check for a connection that the peer has ended, and an exchange of one
// request for one answer.
//
// A panic in any goroutine of the probe ends its Run with an error (fault.go).
//
// Times are nanoseconds since the run's start on the monotonic clock.
package probe
