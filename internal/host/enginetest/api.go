package enginetest

import (
	"archive/tar"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/moby/moby/api/types/container"
)

func (e *Engine) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/_ping", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Api-Version", "1.41")
		w.Header().Set("Ostype", "linux")
	})
	on := func(method, route, call string, f func(http.ResponseWriter, *http.Request, *Container)) {
		mux.HandleFunc(method+" /{version}"+route, func(w http.ResponseWriter, r *http.Request) {
			if status := e.note(method, call); status != 0 {
				refuse(w, status, "told to fail")
				return
			}
			id := r.PathValue("id")
			if id == "" {
				f(w, r, nil)
				return
			}
			for _, c := range e.Containers() {
				if strings.HasPrefix(c.ID, id) {
					f(w, r, c)
					return
				}
			}
			refuse(w, http.StatusNotFound, "No such container: "+id)
		})
	}
	on("GET", "/containers/json", "list", e.list)
	on("GET", "/containers/{id}/json", "inspect", e.inspect)
	on("POST", "/containers/create", "create", e.create)
	on("POST", "/containers/{id}/start", "start", e.start)
	on("PUT", "/containers/{id}/archive", "archive", e.put)
	on("GET", "/containers/{id}/archive", "archive", e.get)
	on("POST", "/containers/{id}/wait", "wait", e.wait)
	on("GET", "/containers/{id}/logs", "logs", e.logs)
	on("POST", "/containers/{id}/kill", "kill", e.kill)
	on("DELETE", "/containers/{id}", "remove", e.remove)
	mux.HandleFunc("POST /{version}/networks/{name}/connect", func(w http.ResponseWriter, r *http.Request) {
		if status := e.note("POST", "connect"); status != 0 {
			refuse(w, status, "told to fail")
			return
		}
		all := e.Containers()
		c := all[len(all)-1]
		c.Networks = append(c.Networks, r.PathValue("name"))
	})
	return mux
}

// note takes note of a call and tells the status that it is to fail with; 0: none.
func (e *Engine) note(method, call string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	name := method + " " + call
	if method != "GET" {
		e.calls = append(e.calls, name)
	}
	return e.fails[name]
}

func refuse(w http.ResponseWriter, status int, message string) {
	answer(w, status, map[string]string{"message": message})
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the caller may have gone
}

func (e *Engine) list(w http.ResponseWriter, r *http.Request, _ *Container) {
	var filters map[string]map[string]bool
	if text := r.FormValue("filters"); text != "" {
		if err := json.Unmarshal([]byte(text), &filters); err != nil {
			refuse(w, http.StatusBadRequest, err.Error())
			return
		}
	}
	out := []container.Summary{}
	for _, c := range e.Containers() {
		state := container.StateExited
		if c.Running() {
			state = container.StateRunning
		}
		if r.FormValue("all") == "" && state != container.StateRunning || !labelled(c.Config.Labels, filters["label"]) {
			continue
		}
		out = append(out, container.Summary{ID: c.ID, Names: []string{"/" + c.Name}, Labels: c.Config.Labels, State: state, Created: time.Now().Unix()})
	}
	slices.Reverse(out)
	answer(w, http.StatusOK, out)
}

func labelled(labels map[string]string, wanted map[string]bool) bool {
	for want := range wanted {
		name, value, exact := strings.Cut(want, "=")
		if got, ok := labels[name]; !ok || exact && got != value {
			return false
		}
	}
	return true
}

func (e *Engine) inspect(w http.ResponseWriter, _ *http.Request, c *Container) {
	networks := map[string]any{}
	for _, n := range c.Networks {
		networks[n] = map[string]any{}
	}
	answer(w, http.StatusOK, map[string]any{
		"Id": c.ID, "Name": "/" + c.Name, "Image": "sha256:" + c.ID, "Config": c.Config, "HostConfig": c.Host, "Mounts": c.Mounts,
		"NetworkSettings": map[string]any{"Networks": networks},
	})
}

func (e *Engine) create(w http.ResponseWriter, r *http.Request, _ *Container) {
	var body struct {
		container.Config
		HostConfig       container.HostConfig
		NetworkingConfig struct{ EndpointsConfig map[string]any }
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	c := e.Add(&Container{
		Name: r.FormValue("name"), Config: body.Config, Host: body.HostConfig,
		Networks: slices.Sorted(maps.Keys(body.NetworkingConfig.EndpointsConfig)),
	})
	c.mu.Lock()
	c.running = false
	c.mu.Unlock()
	answer(w, http.StatusCreated, map[string]any{"Id": c.ID, "Warnings": []string{}})
}

func (e *Engine) start(w http.ResponseWriter, _ *http.Request, c *Container) {
	c.mu.Lock()
	c.running = true
	c.mu.Unlock()
	if e.OnStart != nil {
		e.OnStart(c)
	}
	w.WriteHeader(http.StatusNoContent)
}

func (e *Engine) put(w http.ResponseWriter, r *http.Request, c *Container) {
	in := tar.NewReader(r.Body)
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		var data []byte
		if err == nil {
			data, err = io.ReadAll(in)
		}
		if err != nil {
			refuse(w, http.StatusBadRequest, err.Error())
			return
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		name := path.Join(r.FormValue("path"), h.Name)
		c.Put(name, data)
		if e.OnFile != nil && c.Running() {
			e.OnFile(c, name)
		}
	}
}

// get answers with a tar of a file, or of all files of a folder.
func (e *Engine) get(w http.ResponseWriter, r *http.Request, c *Container) {
	asked := path.Clean(r.FormValue("path"))
	var out bytes.Buffer
	archive := tar.NewWriter(&out)
	found := false
	c.mu.Lock()
	for name, data := range c.files {
		if name != asked && !strings.HasPrefix(name, asked+"/") {
			continue
		}
		found = true
		rel := strings.TrimPrefix(name, path.Dir(asked)+"/")
		if err := archive.WriteHeader(&tar.Header{Name: rel, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(data))}); err == nil {
			_, _ = archive.Write(data) // to memory
		}
	}
	c.mu.Unlock()
	if !found {
		refuse(w, http.StatusNotFound, "Could not find the file "+asked)
		return
	}
	if err := archive.Close(); err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	stat := base64.StdEncoding.EncodeToString([]byte(`{"name":"x"}`))
	w.Header().Set("X-Docker-Container-Path-Stat", stat)
	_, _ = w.Write(out.Bytes()) // the caller may have gone
}

func (e *Engine) wait(w http.ResponseWriter, r *http.Request, c *Container) {
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	select {
	case <-c.ended:
		c.mu.Lock()
		code := c.code
		c.mu.Unlock()
		_ = json.NewEncoder(w).Encode(map[string]any{"StatusCode": code}) // the caller may have gone
	case <-r.Context().Done():
	}
}

// logs follows a log until the container ends, as frames of its stderr.
func (e *Engine) logs(w http.ResponseWriter, r *http.Request, c *Container) {
	w.WriteHeader(http.StatusOK)
	sent := 0
	for ended := false; !ended; {
		select {
		case <-c.ended:
			ended = true
		case <-r.Context().Done():
			return
		case <-time.After(5 * time.Millisecond):
		}
		c.mu.Lock()
		text := c.logs[sent:]
		c.mu.Unlock()
		if text == "" {
			continue
		}
		sent += len(text)
		n := len(text)
		_, _ = w.Write(append([]byte{2, 0, 0, 0, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}, text...)) // the caller may have gone
		w.(http.Flusher).Flush()
	}
}

func (e *Engine) kill(w http.ResponseWriter, r *http.Request, c *Container) {
	if !c.Running() {
		refuse(w, http.StatusConflict, "Container is not running")
		return
	}
	if e.OnSignal != nil {
		e.OnSignal(c, r.FormValue("signal"))
	}
	w.WriteHeader(http.StatusNoContent)
}

func (e *Engine) remove(w http.ResponseWriter, _ *http.Request, c *Container) {
	c.Exit(137)
	e.mu.Lock()
	e.all = slices.DeleteFunc(e.all, func(other *Container) bool { return other == c })
	e.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}
