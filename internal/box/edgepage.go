package box

import (
	"fmt"
	"math/rand/v2"
	"net/http"
)

// edgeError is an answer that the edge gives in an instance's place.
type edgeError struct {
	status      int
	origStatus  int    // the status behind the edge
	failureCode string // Envoy's flag; "" says nothing of what is behind
	detail      string
}

// The edge turns a 503 of what is behind it into a 504.
var (
	upstreamReset = edgeError{http.StatusGatewayTimeout, http.StatusServiceUnavailable, "UC",
		"upstream_reset_before_response_started{connection_termination}"}
	connectFailure = edgeError{http.StatusGatewayTimeout, http.StatusServiceUnavailable, "UF",
		"upstream_reset_before_response_started{connection_failure}"}
	noHealthyUpstream = edgeError{http.StatusGatewayTimeout, http.StatusServiceUnavailable, "UH",
		"no_healthy_upstream"}
)

func (f edgeError) page() string {
	detail := ""
	if f.failureCode != "" {
		detail = fmt.Sprintf("\n<p>DETAIL %s (%d %s)</p>", f.detail, f.origStatus, f.failureCode)
	}
	return fmt.Sprintf(`<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>%[1]d %[2]s</title></head>
<body>
<h1>We could not reach the app</h1>
<p>error code: %[1]d</p>%[3]s
</body>
</html>
`, f.status, http.StatusText(f.status), detail)
}

func uuid(rng *rand.Rand) string {
	a, b := rng.Uint64(), rng.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x",
		a>>32, a>>16&0xffff, a&0xfff, 0x8000|b>>48&0x3fff, b&0xffffffffffff)
}
