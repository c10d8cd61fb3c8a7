package box

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cutwatch/cutwatch/internal/config"
)

// Kinds of incidents. Those of the first group answer in the instance's place;
// a direct front has only those that need no HTTP: reset, eof and hang.
const (
	IncidentStatus   = "status"   // an answer with Status
	IncidentReset    = "reset"    // the connection is reset
	IncidentEOF      = "eof"      // the connection is closed, after Hang
	IncidentHang     = "hang"     // nothing comes any more
	IncidentTruncate = "truncate" // the instance's answer ends in the middle of its body, as How says
	IncidentReplace  = "replace"  // another page, with 200
	IncidentRedirect = "redirect" // to where it came from
	IncidentCache    = "cache"    // the first good answer of its time, again and again, older and older

	IncidentDelay = "delay" // Delay later than without
	IncidentHold  = "hold"  // requests wait until it is over, and then go their way

	IncidentRefuse      = "refuse"      // nothing listens
	IncidentNoAccept    = "no-accept"   // connections are not taken: connecting times out
	IncidentCertificate = "certificate" // another certificate, as How says
	IncidentControl     = "control"     // none but the control host's
	IncidentNoName      = "no-name"     // the front's name is not known
	IncidentNewAddress  = "new-address" // the front's name has another address, where it listens as well
)

// Ways of [IncidentTruncate] and [IncidentCertificate].
const (
	CutVisible  = "visible" // before the Content-Length, or before the last chunk, is in
	CutSilent   = "silent"  // with an end like any other's: only the body tells
	CertRenewed = "renewed" // as good as the first
	CertOther   = "other"   // for another name
	CertNotYet  = "not-yet" // valid from tomorrow on
)

// Who seems to give an incident's answer.
const (
	AsApp    = "app"    // it names version and instance
	AsEdge   = "edge"   // it bears the edge's marks
	AsNobody = "nobody" // it says nothing
)

// Incident is something that goes wrong at the front, or with what is behind it,
// for a while. Where several strike one request the first of the scene's counts.
type Incident struct {
	Kind  string          `json:"kind"`
	Owner string          `json:"owner"`           // whose the requests are that fail by it; "" where none does
	At    Moment          `json:"at"`              // it begins
	For   config.Duration `json:"for,omitempty"`   // and lasts so long
	Until Moment          `json:"until,omitzero"`  // or until then; without both it goes on
	Share float64         `json:"share,omitempty"` // of the requests; 0: all
	Count int             `json:"count,omitempty"` // and no more than so many; 0: any number

	Lane string `json:"lane,omitempty"` // fresh (first on its connection), kept (a later one), fast (both) or slow; "": all
	Role string `json:"role,omitempty"` // old or new: whom the request would go to; "": anybody
	One  bool   `json:"one,omitempty"`  // only one instance of the role: the first that it strikes
	Made bool   `json:"made,omitempty"` // only connections that were made before it began

	Status  int               `json:"status,omitempty"`
	As      string            `json:"as,omitempty"`      // app, edge or nobody; "": edge
	Headers map[string]string `json:"headers,omitempty"` // more of the answer's
	Body    string            `json:"body,omitempty"`    // "": one that fits
	How     string            `json:"how,omitempty"`     // of truncate and certificate
	Hang    config.Duration   `json:"hang,omitempty"`    // of eof
	Delay   config.Duration   `json:"delay,omitempty"`   // of delay
	Control bool              `json:"control,omitempty"` // the control host resets connections while it lasts
}

func (i Incident) validate(front string) error {
	var errs []error
	check := func(ok bool, text string) {
		if !ok {
			errs = append(errs, errors.New(text))
		}
	}
	oneOf := func(got string, want ...string) bool { return slices.Contains(want, got) }
	anywhere := oneOf(i.Kind, IncidentReset, IncidentEOF, IncidentHang, IncidentRefuse, IncidentNoAccept, IncidentControl,
		IncidentNoName, IncidentNewAddress)
	check(anywhere || oneOf(i.Kind, IncidentStatus, IncidentTruncate, IncidentReplace, IncidentRedirect, IncidentCache,
		IncidentDelay, IncidentHold, IncidentCertificate), "there is no such kind")
	check(anywhere || front == FrontEdge, "a direct front cannot do it")
	check(i.Share >= 0 && i.Share <= 1, "share must be from 0 to 1")
	check(i.For == 0 || i.Until == (Moment{}), "give for or until, not both")
	check(i.Kind != IncidentStatus || i.Status >= 200 && i.Status <= 599, "status must be from 200 to 599")
	check(oneOf(i.Lane, "", "fresh", "kept", "fast", "slow"), "lane must be fresh, kept, fast, slow or none")
	check(oneOf(i.Role, "", "old", "new"), "role must be old, new or none")
	check(oneOf(i.As, "", AsApp, AsEdge, AsNobody), "as must be app, edge or nobody")
	check(i.Kind != IncidentTruncate || oneOf(i.How, CutVisible, CutSilent), "how must be visible or silent")
	check(i.Kind != IncidentCertificate || oneOf(i.How, CertRenewed, CertOther, CertNotYet), "how must be renewed, other or not-yet")
	errs = append(errs, i.At.validate())
	if i.Until != (Moment{}) {
		errs = append(errs, i.Until.validate())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("incident %q: %w", i.Kind, err)
	}
	return nil
}

// asked is what an incident looks at of a request.
type asked struct {
	slow   bool
	before int       // requests before it on its connection
	made   time.Time // its connection
	inst   *instance // whom it is for; nil: nobody
}

// fits tells whether a request is of those that the incident may strike.
func (i *Incident) fits(q asked, began time.Time) bool {
	switch i.Lane {
	case "fresh":
		if q.slow || q.before > 0 {
			return false
		}
	case "kept":
		if q.slow || q.before == 0 {
			return false
		}
	case "fast":
		if q.slow {
			return false
		}
	case "slow":
		if !q.slow {
			return false
		}
	}
	if i.Role != "" && (q.inst == nil || q.inst.isNew != (i.Role == "new")) {
		return false
	}
	return !i.Made || q.made.Before(began)
}
