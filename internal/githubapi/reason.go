package githubapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-github/v62/github"

	"github.com/cutwatch/cutwatch/internal/format"
)

// Status is the HTTP status of the answer that an error is about; 0 where none came.
func Status(err error) int {
	if resp := answer(err); resp != nil {
		return resp.StatusCode
	}
	return 0
}

// answer is the response of any of the library's errors.
func answer(err error) *http.Response {
	if e, ok := errors.AsType[*github.ErrorResponse](err); ok {
		return e.Response
	}
	if e, ok := errors.AsType[*github.RateLimitError](err); ok {
		return e.Response
	}
	if e, ok := errors.AsType[*github.AbuseRateLimitError](err); ok {
		return e.Response
	}
	if e, ok := errors.AsType[*github.TwoFactorAuthError](err); ok {
		return e.Response
	}
	return nil
}

// RateLimited tells whether an error is a rate limit that was reached.
func RateLimited(err error) bool {
	resp := answer(err)
	return resp != nil && (Limited(resp) || errors.As(err, new(*github.RateLimitError)) || errors.As(err, new(*github.AbuseRateLimitError)))
}

// Denied tells whether an error means that the token may not do what was asked,
// or not even know of it.
func Denied(err error) bool {
	switch Status(err) {
	case http.StatusUnauthorized, http.StatusNotFound:
		return true
	case http.StatusForbidden:
		return !RateLimited(err)
	}
	return false
}

// minToken is the least length of a token; a shorter one is of a test's, and a
// part of words.
const minToken = 16

// maxReason bounds what GitHub says itself, in columns.
const maxReason = 200

// Reason is what went wrong, as a part of a sentence that is safe to print. The
// token is not in it.
func (c *Client) Reason(err error) string {
	text := reason(err)
	if len(c.token) >= minToken {
		text = strings.ReplaceAll(text, c.token, "***")
	}
	return format.Clean(text, 2*maxReason)
}

func reason(err error) string {
	status := Status(err)
	switch {
	case status != 0 && RateLimited(err):
		return fmt.Sprintf("a rate limit of GitHub's is reached (%d)", status)
	case status == http.StatusUnauthorized:
		return "GitHub does not take the token (401)"
	case status == http.StatusForbidden:
		return fmt.Sprintf("the token may not do it (403%s)", said(err))
	case status == http.StatusNotFound:
		return "GitHub answers 404, as it does where the token may not see it"
	case status >= 500:
		return fmt.Sprintf("GitHub had trouble of its own (%d)", status)
	case status != 0:
		return fmt.Sprintf("GitHub refused it (%d%s)", status, said(err))
	}
	if ne, ok := errors.AsType[net.Error](err); errors.Is(err, context.DeadlineExceeded) || ok && ne.Timeout() {
		return "GitHub did not answer in time"
	}
	if errors.Is(err, context.Canceled) {
		return "there was no time left to ask GitHub"
	}
	if malformed(err) {
		return "GitHub's answer is not what it should be: " + format.Clean(err.Error(), maxReason)
	}
	return "GitHub cannot be reached: " + format.Clean(err.Error(), maxReason)
}

// malformed tells whether an error is about what was read, not about reading it.
func malformed(err error) bool {
	return errors.As(err, new(*json.SyntaxError)) || errors.As(err, new(*json.UnmarshalTypeError)) ||
		errors.As(err, new(*time.ParseError)) || errors.Is(err, io.ErrUnexpectedEOF)
}

// said is GitHub's own message, with the details of an invalid request.
func said(err error) string {
	e, ok := errors.AsType[*github.ErrorResponse](err)
	if !ok || e.Message == "" {
		return ""
	}
	text := e.Message
	for _, detail := range e.Errors {
		if detail.Message != "" {
			text += "; " + detail.Message
		}
	}
	return ": " + format.Clean(text, maxReason)
}
