package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// service is what the scripts probe: a small web service on loopback that
// counts its connections and changes its version when it is told to.
type service struct {
	url     string // what is probed
	control string // a GET of it is a deploy; not counted
	stop    func()

	opened, answers, deploys atomic.Int64
}

// changesAfter is how many answers of its first version a service of kind
// "changing" gives: about 5 s at the default rate.
const changesAfter = 550

// start starts it. Kind "anonymous" never names its version; kind "changing"
// changes its version by itself, once.
func (s *service) start(kind string) error {
	probed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	control, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		probed.Close()
		return err
	}
	s.url, s.control = "http://"+probed.Addr().String()+"/", "http://"+control.Addr().String()+"/"
	answer := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if s.answers.Add(1) == changesAfter && kind == "changing" {
				s.deploys.Add(1)
			}
			if kind != "anonymous" {
				w.Header().Set("X-Version", versionName(s.deploys.Load()))
			}
			fmt.Fprintln(w, "hello")
		}),
		ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				s.opened.Add(1)
			}
		},
	}
	deploy := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, versionName(s.deploys.Add(1)))
	})}
	go answer.Serve(probed)
	go deploy.Serve(control)
	s.stop = func() { answer.Close(); deploy.Close() }
	return nil
}

func versionName(deploys int64) string { return fmt.Sprintf("v%d", deploys+1) }

// changeVersion deploys and returns the version that is live then.
func changeVersion(control string) (string, error) {
	client := http.Client{Timeout: 5 * time.Second}
	resp, err := client.Get(control)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	version, err := io.ReadAll(resp.Body)
	return string(version), err
}
