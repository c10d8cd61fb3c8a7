package digitalocean

import (
	"testing"

	"github.com/digitalocean/godo"
)

// A deployment may be the trigger's unless its cause says that it is another's.
func TestForeign(t *testing.T) {
	act := func(name godo.DeploymentCauseDetailsDigitalOceanUserActionName) *godo.DeploymentCauseDetails {
		return &godo.DeploymentCauseDetails{
			Type:                   godo.DeploymentCauseDetailsType_Manual,
			DigitalOceanUserAction: &godo.DeploymentCauseDetailsDigitalOceanUserAction{Name: name},
		}
	}
	tests := []struct {
		name  string
		cause *godo.DeploymentCauseDetails
		want  bool
	}{
		{"none told", nil, false},
		{"nothing in it", &godo.DeploymentCauseDetails{}, false},
		{"a restart", act(godo.DeploymentCauseDetailsDigitalOceanUserActionName_Restart), false},
		{"a deployment by hand", act(godo.DeploymentCauseDetailsDigitalOceanUserActionName_CreateDeployment), false},
		{"an act that is not known", act("SOMETHING_NEW"), false},
		{"a type that is not known", &godo.DeploymentCauseDetails{Type: "SOMETHING_NEW"}, false},
		{"another spec", act(godo.DeploymentCauseDetailsDigitalOceanUserActionName_UpdateSpec), true},
		{"a rollback", act(godo.DeploymentCauseDetailsDigitalOceanUserActionName_RollbackApp), true},
		{"a push", &godo.DeploymentCauseDetails{Type: godo.DeploymentCauseDetailsType_DeployOnPush}, true},
		{"a push without a type", &godo.DeploymentCauseDetails{GitPush: &godo.DeploymentCauseDetailsGitPush{}}, true},
		{"an image that was pushed", &godo.DeploymentCauseDetails{DOCRPush: &godo.DeploymentCauseDetailsDOCRPush{}}, true},
		{"autoscaling", &godo.DeploymentCauseDetails{Type: godo.DeploymentCauseDetailsType_Autoscaled}, true},
		{"maintenance", &godo.DeploymentCauseDetails{Type: godo.DeploymentCauseDetailsType_Maintenance}, true},
		{"an automatic rollback", &godo.DeploymentCauseDetails{Type: godo.DeploymentCauseDetailsType_AutoRollback}, true},
	}
	for _, tt := range tests {
		if got := foreign(&godo.Deployment{CauseDetails: tt.cause}); got != tt.want {
			t.Errorf("%s: foreign %v, want %v", tt.name, got, tt.want)
		}
	}
}
