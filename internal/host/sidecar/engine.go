// Package sidecar runs a probe in a container beside the one that an action's
// step runs in, since that one ends with its step: a sibling that the Docker
// engine of the runner is asked for. Later steps find it by its labels, leave it
// marks, and fetch its record, all over the engine's API.
package sidecar

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
)

// Socket is where a runner puts its engine's socket into a container action.
const Socket = "/var/run/docker.sock"

// ErrNoEngine tells that there is no engine to ask.
var ErrNoEngine = errors.New("no Docker engine")

// answerTimeout bounds a question that the engine answers at once.
const answerTimeout = 30 * time.Second

// Engine is a Docker engine.
type Engine struct {
	api    *client.Client
	socket string
}

// Dial connects to the engine that listens at a Unix socket, and agrees on a
// version of its API. Its error is an [ErrNoEngine].
func Dial(ctx context.Context, socket string) (*Engine, error) {
	if _, err := os.Stat(socket); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w: there is no socket at %s", ErrNoEngine, socket)
		}
		return nil, fmt.Errorf("%w: %w", ErrNoEngine, err)
	}
	api, err := client.New(client.WithHost("unix://" + socket))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoEngine, err)
	}
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	if _, err := api.Ping(ctx, client.PingOptions{NegotiateAPIVersion: true}); err != nil {
		return nil, fmt.Errorf("%w: the one at %s does not answer (%w)", ErrNoEngine, socket, err)
	}
	return &Engine{api: api, socket: socket}, nil
}

// Close lets go of the engine's connections.
func (e *Engine) Close() error { return e.api.Close() }

// Gone tells whether an error says that what was asked for is not there (any more).
func Gone(err error) bool { return errdefs.IsNotFound(err) }

// Lost tells whether an error says that the engine itself went away.
func Lost(err error) bool { return client.IsErrConnectionFailed(err) || errors.Is(err, ErrNoEngine) }
