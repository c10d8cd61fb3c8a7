package sidecar

import "github.com/moby/moby/client"

// Labels of a probe's container.
const (
	labelRun       = "cutwatch.run"
	labelAttempt   = "cutwatch.attempt"
	labelJob       = "cutwatch.job"
	labelWorkspace = "cutwatch.workspace"
	labelID        = "cutwatch.id"
)

// Key is what tells a probe's container from others on the same machine.
type Key struct {
	Run, Attempt, Job string // of the workflow
	Workspace         string // path on the engine's machine; "": not known, any
	ID                string // of the probe within its job
}

// Labels are the key as a container's labels.
func (k Key) Labels() map[string]string {
	return map[string]string{
		labelRun: k.Run, labelAttempt: k.Attempt, labelJob: k.Job,
		labelWorkspace: k.Workspace, labelID: k.ID,
	}
}

// filters finds the containers of a key.
func (k Key) filters() client.Filters {
	f := client.Filters{}
	for name, value := range k.Labels() {
		if name == labelWorkspace && value == "" {
			f.Add("label", name)
			continue
		}
		f.Add("label", name+"="+value)
	}
	return f
}

// place finds every probe of this workspace and id, whatever the job: those of
// other jobs are leftovers, since a workspace belongs to one job at a time. Where
// the workspace is not known, those of others cannot be told from ours.
func (k Key) place() client.Filters {
	if k.Workspace == "" {
		return k.filters()
	}
	return client.Filters{}.Add("label", labelRun, labelWorkspace+"="+k.Workspace, labelID+"="+k.ID)
}
