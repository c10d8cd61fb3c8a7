package e2e

import (
	"testing"
)

// actBox is a platform in a box for a workflow, and the vars that name it.
func actBox(t *testing.T, scene string) (*boxServer, map[string]string) {
	t.Helper()
	j := &job{t: t, image: needImage(t), label: randomHex(3)}
	t.Cleanup(j.checkEngine)
	b := j.newBox(scene)
	return b, map[string]string{"BOX_URL": b.url, "BOX_CONTROL": b.control}
}

func TestActGatePasses(t *testing.T) {
	t.Parallel()
	b, vars := actBox(t, "app-platform")
	w := act(t, "gate-passes", vars)
	w.want("success", map[string]string{"start": "success", "deploy": "success", "finish": "success", "again": "success", "told": "success"})
	w.wantTold("finish", "pass", "zero-drop")
	if again := w.outputs["again"]; again["verdict"] != "pass" || again["requests"] != w.outputs["finish"]["requests"] {
		t.Errorf("the second finish has the outputs %q, want those of the first", again)
	}
	if truth := b.truth(); len(truth.Drops) > 0 || w.outputs["finish"]["new-version"] != truth.NewVersion {
		t.Errorf("outputs %q, and the box says %+v", w.outputs["finish"], truth)
	}
}

func TestActGateFails(t *testing.T) {
	t.Parallel()
	b, vars := actBox(t, "app-platform")
	w := act(t, "gate-fails", vars)
	w.want("failure", map[string]string{"start": "success", "deploy": "success", "finish": "failure", "merge": "", "told": "success"})
	w.wantTold("finish", "fail", "deploy-failures")
	if lost := b.truth().lost(); len(lost) == 0 || w.outputs["finish"]["deploy-failures"] != itoa(len(lost)) {
		t.Errorf("outputs %q, and the box says it dropped %q", w.outputs["finish"], lost)
	}
}

func TestActTwoProbes(t *testing.T) {
	t.Parallel()
	_, vars := actBox(t, "app-platform")
	cart, _ := actBox(t, "no-op")
	vars["OTHER_URL"] = cart.url
	w := act(t, "two-probes", vars)
	w.want("success", map[string]string{"finish-shop": "success", "finish-cart": "success", "told": "success"})
	w.wantTold("finish-shop", "pass", "zero-drop")
	w.wantTold("finish-cart", "inconclusive", "no-cutover")
}

func TestActDeployFails(t *testing.T) {
	t.Parallel()
	_, vars := actBox(t, "app-platform")
	w := act(t, "deploy-fails", vars)
	w.want("failure", map[string]string{"deploy": "failure", "finish": "failure", "told": "success"})
	w.wantTold("finish", "inconclusive", "deploy-failed")
}

func TestActPostAlone(t *testing.T) {
	t.Parallel()
	b, vars := actBox(t, "app-platform")
	w := act(t, "post-alone", vars)
	w.want("failure", map[string]string{"start": "success", "deploy": "success"})
	if w.posts["start"] != "failure" {
		t.Errorf("the post steps' results are %q, want a failure", w.posts)
	}
	w.wantTold("start", "fail", "deploy-failures")
	if len(b.truth().lost()) == 0 {
		t.Error("the box says that it dropped nothing, so this test shows nothing")
	}
}
