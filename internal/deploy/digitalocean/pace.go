package digitalocean

import (
	"net/http"
	"time"
)

// pace is how often the API is asked, and how long it is waited for. A followed
// deployment costs 30 requests a minute at most, of the 250 that a token has.
type pace struct {
	deploying time.Duration // between two looks at a deployment whose instances change
	building  time.Duration // at one that is built or waits
	listing   time.Duration // at the list, for a new deployment

	attempt time.Duration // one request
	least   time.Duration // the first wait before a request is repeated; each later one is twice as long
	most    time.Duration // the longest of these
	limit   time.Duration // the longest that Retry-After is followed

	prepare time.Duration // how long nothing may answer before the run
	giveUp  time.Duration // and while a deployment is followed
	lost    time.Duration // after so long without an answer the report says so
	appear  time.Duration // how long a deployment may take to be listed
}

var realPace = pace{
	deploying: 2 * time.Second, building: 5 * time.Second, listing: 5 * time.Second,
	attempt: 20 * time.Second, least: time.Second, most: 30 * time.Second, limit: 5 * time.Minute,
	prepare: 2 * time.Minute, giveUp: 10 * time.Minute, lost: 10 * time.Second, appear: time.Minute,
}

// shorter is the pace with every wait that many times shorter.
func (p pace) shorter(times float64) pace {
	for _, d := range []*time.Duration{
		&p.deploying, &p.building, &p.listing, &p.least, &p.most, &p.limit, &p.prepare, &p.giveUp, &p.lost, &p.appear,
	} {
		*d = time.Duration(float64(*d) / times)
	}
	return p
}

// again tells whether a GET that failed so is repeated, and after which wait.
func (p pace) again(err error, attempt int) (wait time.Duration, again bool) {
	code := status(err)
	switch {
	case code == 0: // the network, or an answer that was cut
	case code == http.StatusTooManyRequests, code == http.StatusRequestTimeout, code >= 500:
	default:
		return 0, false
	}
	wait = p.most
	if attempt < 16 {
		wait = min(p.least<<attempt, p.most)
	}
	if asked := retryAfter(err); asked > 0 {
		return min(asked, p.limit), true
	}
	if code == http.StatusTooManyRequests {
		return p.most, true
	}
	return wait, true
}
