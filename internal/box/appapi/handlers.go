package appapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// defaultPerPage is how many of a list are on one page.
const defaultPerPage = 20

func (a *API) listApps(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	apps := []app{a.appNow()}
	for i, name := range a.o.Others {
		apps = append(apps, app{ID: fmt.Sprintf("%08d-0000-4000-8000-000000000000", i+1), Spec: spec{Name: name}, CreatedAt: a.made, UpdatedAt: a.made})
	}
	a.mu.Unlock()
	page, links, meta := paged(r, apps)
	answer(w, http.StatusOK, map[string]any{"apps": page, "links": links, "meta": meta})
}

func (a *API) getApp(w http.ResponseWriter, _ *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	answer(w, http.StatusOK, map[string]any{"app": a.appNow()})
}

func (a *API) listDeployments(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	var list []deployment
	for _, d := range slices.Backward(a.deployments) {
		if d.first || time.Since(d.made) >= a.o.ListLag {
			list = append(list, d.wire())
		}
	}
	a.mu.Unlock()
	page, links, meta := paged(r, list)
	answer(w, http.StatusOK, map[string]any{"deployments": page, "links": links, "meta": meta})
}

func (a *API) getDeployment(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, d := range a.deployments {
		if d.id == r.PathValue("deployment") {
			answer(w, http.StatusOK, map[string]any{"deployment": d.wire()})
			return
		}
	}
	notFound(w)
}

func (a *API) listInstances(w http.ResponseWriter, _ *http.Request) {
	var list []instance
	for i := range a.o.App.Instances {
		list = append(list, instance{
			Component: a.o.App.Component, Type: "SERVICE",
			Name: fmt.Sprintf("%s-76b84c7fb8-%05d", a.o.App.Component, i), Alias: fmt.Sprintf("%s-%d", a.o.App.Component, i),
		})
	}
	answer(w, http.StatusOK, map[string]any{"instances": list})
}

func (a *API) createDeployment(w http.ResponseWriter, r *http.Request) {
	var asked struct { // null is none of it
		ForceBuild bool `json:"force_build"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		problem(w, http.StatusBadRequest, "bad_request", "the body is no JSON")
		return
	}
	a.deploy(w, Cause{Type: Manual, Action: "CREATE_DEPLOYMENT", Text: "manual", ForceBuild: asked.ForceBuild})
}

func (a *API) restart(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Components []string `json:"components"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		problem(w, http.StatusBadRequest, "bad_request", "the body is no JSON")
		return
	}
	for _, c := range asked.Components {
		if c != a.o.App.Component {
			problem(w, http.StatusBadRequest, "bad_request", "there is no such component")
			return
		}
	}
	a.deploy(w, Cause{Type: Manual, Action: "RESTART", Text: "manual"})
}

// deploy makes a deployment, has it played and answers with it as it is made.
func (a *API) deploy(w http.ResponseWriter, c Cause) {
	d := a.add(c)
	a.mu.Lock()
	made := d.wire()
	a.mu.Unlock()
	if a.o.Deploy != nil {
		a.plays.Go(func() { a.o.Deploy(a.ctx, d) })
	}
	answer(w, http.StatusOK, map[string]any{"deployment": made})
}

// paged cuts the page that was asked for out of a list.
func paged[T any](r *http.Request, list []T) (page []T, links, meta map[string]any) {
	number := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(r.URL.Query().Get(name)); err == nil && n > 0 {
			return n
		}
		return otherwise
	}
	at, per := number("page", 1), min(number("per_page", defaultPerPage), 200)
	from := min((at-1)*per, len(list))
	to := min(from+per, len(list))
	pages := map[string]any{}
	if last := (len(list) + per - 1) / per; at < last {
		address := func(n int) string {
			return fmt.Sprintf("http://%s%s?page=%d&per_page=%d", r.Host, r.URL.Path, n, per)
		}
		pages["next"], pages["last"] = address(at+1), address(last)
	}
	return append([]T{}, list[from:to]...), map[string]any{"pages": pages}, map[string]any{"total": len(list)}
}

func notFound(w http.ResponseWriter) {
	problem(w, http.StatusNotFound, "not_found", "The resource you were accessing could not be found.")
}

// problem is an error as the API words it.
func problem(w http.ResponseWriter, status int, id, message string) {
	answer(w, status, map[string]any{"id": id, "message": message, "request_id": "4d9d8375-3c56-4925-a3e7-eb137fed17e9"})
}

func answer(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // a shape of ours cannot be written
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	w.Write(text) //nolint:errcheck // a client that has left needs none
}
