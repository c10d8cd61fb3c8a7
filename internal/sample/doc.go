// Package sample defines what a run records — one record a request, the
// deploy's signals, the evidence gathered on failures — and the file it is
// streamed to.
//
// # The file
//
// samples.ndjson.zst is a zstd stream of JSON objects, one a line. It is
// flushed four times a second, so that a probe killed at any moment leaves all
// but its last moments, and a file cut at any byte can be read up to the cut.
// [Open] takes the plain text (zstd -d) as well.
//
// Every line is an object with one field, which names its kind:
//
//	run        the first line: what was asked for
//	sample     a request that ended; in the order in which they ended
//	skip       requests that had their time and could not be sent
//	follow_up  a probe fired at once on a failure; evidence, in no count
//	signal     something about the deploy, or about the run
//	platform   what the platform that is followed is set to; of several the last counts
//	end        the last line; missing where the probe died
//
// All times are nanoseconds since the run's start on the monotonic clock. The
// only wall-clock time is the start itself, in run. A field that is absent was
// not seen, did not happen, or is false; it is never a measured zero, but for
// times (sched, start, end, at, from, to), which are always there.
//
// # run
//
//	schema      1
//	cutwatch    version of the program
//	id          of the run: request n carries the id cw-<id>-<n>
//	started_at  RFC 3339, UTC, milliseconds
//	config      the inputs, in snake_case; without headers, body, ca-cert and report-dir
//	deploy      what told of the deploy: "command", "digitalocean", "box"; absent: nothing did
//	command     the program that deployed, without its arguments
//	history     what earlier runs saw of failures that were no deploy's: how many
//	            runs and requests, and the episodes and the largest of each kind;
//	            deploys: of the last 20 the headline figures, as in result.json
//
// # sample
//
//	n          number of the request, from 1 on
//	lane       "kept", "fresh", "slow" or "control"
//	sched      its place in the schedule; latency counts from here
//	late       how long after its time the prober woke up
//	queued     how long it waited for a connection that the service still held
//	start      the dial began, on a reused connection the write
//	conn       connected; absent on a reused connection
//	tls        the TLS handshake was done
//	wrote      the request was written
//	first      the first byte of the answer came
//	end        the answer was whole, or the failure was seen
//	cid        number of the connection
//	before     requests before it on that connection; absent: the first
//	idle       how long the connection had been idle, ns
//	reconnect  why a new connection was made for the kept lane: "idle-close", "connection-close", "failure"
//	lport      local port
//	remote     address:port that was dialled
//	rtt        smoothed round trip as the kernel measured it, ns; on failures
//	proto      "HTTP/1.1", "HTTP/2.0"
//	status     status code
//	bytes      of the body
//	hash       FNV-1a 64 of the body, a decimal number in a string
//	close      the answer said Connection: close
//	version    version id
//	instance   instance id
//	by         who answered: "app", "edge", "unknown"; absent: nobody
//	edge       the proxy that the answer names: "cloudflare", "nginx", …
//	leaf       TLS, on a new connection: the first 16 hex digits of the leaf
//	           certificate's SHA-256, also where it was refused
//	addrs      on a new connection, or the attempt at one: the addresses that the
//	           name had (sorted, the first 64), where they are others than before
//	broken     true: the body is not whole by its own grammar (JSON that does not
//	           parse, HTML without its end)
//	unsized    true: the answer had no Content-Length, so where its body ended was
//	           its end
//	location   of an answer 3xx, without its query's values; untrusted text
//	hit        the answer came from a cache
//	age        its Age, seconds
//	seconds    slow lane: the length that was asked for, seconds
//	class      kind of the failure: "dns", "connect-refused", "connect-timeout", "tls", "reset", "eof",
//	           "timeout", "truncated", "status", "body", "local"; absent: good
//	phase      where it failed: "dns", "connect", "tls", "write", "response", "body"
//	error      the error's text, 300 bytes at most
//	unfinished left by the prober at the run's end; not a failure
//	headers    of a failure: headers that tell who failed
//	excerpt    of a failure: the beginning of the body, 300 bytes at most
//
// # skip
//
//	lane    which lane
//	from    scheduled time of the first
//	to      and of the last
//	n       how many
//	prober  the prober itself woke too late; absent: the service held every connection
//
// # follow_up
//
//	n         number of the failed request; 0: none failed, control-url is asked once a second
//	kind      "fresh": a new connection to the same address; "control": control-url
//	start     the dial began
//	end       the answer was whole, or it failed
//	status    status code
//	version   version id
//	instance  instance id
//	class     kind of its own failure; absent: it succeeded
//	error     the error's text
//
// # signal
//
//	at       when
//	kind     "baseline", "start", "end", "phase" or "note"
//	source   who said it: "command", "digitalocean", "box", …
//	name     what it is called there
//	outcome  of kind end: "succeeded", "failed", "timed-out", "unknown"
//	message  text of the source
//	offset   how far the source's own clock is ahead of the run's; at has been
//	         corrected by it
//	deployment  the platform's id of the deployment that it is about
//
// # platform
//
// What old lives by, before the deploy, with the platform's defaults applied.
//
//	kind                  "digitalocean", "github"
//	app                   name of the app
//	app_id                the platform's id of it
//	url                   where it answers
//	component             the service that answers there
//	drain_seconds         from an instance's choice to its SIGTERM
//	grace_period_seconds  from there to its SIGKILL
//	instance_count        how many instances; with autoscaling the least
//	autoscaling           true: their number changes by itself
//	health_check          "http /path" or "tcp"
//	edge_cache            whether the platform's cache may answer
//	sleep_seconds         without requests for so long it is put to sleep
//	threat_control        true: the edge refuses what looks suspicious to it
//
// # end
//
//	at       when
//	reason   "complete", "no-answer", "cutover-timeout", "deploy-timeout", "max-duration", "signal", "recording-failed"
//	message  more on it
//
// error, headers, excerpt, message, version and instance hold text of the
// probed service or the deploy: it is whatever they sent.
package sample
