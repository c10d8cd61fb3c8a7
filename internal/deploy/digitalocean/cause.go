package digitalocean

import "github.com/digitalocean/godo"

// scaled tells whether a deployment is a change of the number of instances.
func scaled(d *godo.Deployment) bool {
	return d.CauseDetails != nil && (d.CauseDetails.Type == godo.DeploymentCauseDetailsType_Autoscaled || d.CauseDetails.Autoscaler != nil)
}

// foreign tells whether a deployment has a cause that a trigger cannot have: a
// push, the platform, or another act of a user. Where the cause is not told, or
// is one that we do not know, it may be the trigger's.
func foreign(d *godo.Deployment) bool {
	c := d.CauseDetails
	if c == nil {
		return false
	}
	switch c.Type {
	case godo.DeploymentCauseDetailsType_DeployOnPush, godo.DeploymentCauseDetailsType_Maintenance,
		godo.DeploymentCauseDetailsType_ManualRollback, godo.DeploymentCauseDetailsType_AutoRollback,
		godo.DeploymentCauseDetailsType_UpdateDatabaseTrustedSources, godo.DeploymentCauseDetailsType_Autoscaled:
		return true
	}
	if c.GitPush != nil || c.DOCRPush != nil || c.Autoscaler != nil {
		return true
	}
	if c.DigitalOceanUserAction == nil {
		return false
	}
	switch c.DigitalOceanUserAction.Name {
	case godo.DeploymentCauseDetailsDigitalOceanUserActionName_UpdateSpec, godo.DeploymentCauseDetailsDigitalOceanUserActionName_ResetDatabasePassword,
		godo.DeploymentCauseDetailsDigitalOceanUserActionName_RollbackApp, godo.DeploymentCauseDetailsDigitalOceanUserActionName_RevertAppRollback,
		godo.DeploymentCauseDetailsDigitalOceanUserActionName_UpgradeBuildpack:
		return true
	}
	return false
}
