package event

// payload is what is read of an event's payload. All of it may be absent.
type payload struct {
	PullRequest *pullRequest `json:"pull_request"`
	Issue       *struct {
		Number      int       `json:"number"`
		PullRequest *struct{} `json:"pull_request"` // there, where the issue is a pull request
	} `json:"issue"`
	MergeGroup *struct {
		HeadSHA string `json:"head_sha"`
		HeadRef string `json:"head_ref"`
	} `json:"merge_group"`
	Deleted     bool `json:"deleted"` // of push: the branch is gone
	WorkflowRun *struct {
		Event          string `json:"event"`
		HeadSHA        string `json:"head_sha"`
		HeadBranch     string `json:"head_branch"`
		HeadRepository *struct {
			Owner struct {
				Login string `json:"login"`
			} `json:"owner"`
		} `json:"head_repository"`
		PullRequests []struct {
			Number int `json:"number"`
			Base   struct {
				Repo struct {
					ID int64 `json:"id"`
				} `json:"repo"`
			} `json:"base"`
		} `json:"pull_requests"`
	} `json:"workflow_run"`
	Deployment *struct {
		ID          int64  `json:"id"`
		SHA         string `json:"sha"`
		Environment string `json:"environment"`
	} `json:"deployment"`
	DeploymentStatus *struct {
		EnvironmentURL string `json:"environment_url"`
	} `json:"deployment_status"`
	Repository *struct {
		ID int64 `json:"id"`
	} `json:"repository"`
}

type pullRequest struct {
	Number int `json:"number"`
	User   struct {
		Login string `json:"login"`
	} `json:"user"`
	Head struct {
		SHA  string `json:"sha"`
		Repo *struct {
			FullName string `json:"full_name"`
		} `json:"repo"` // null where the fork is gone
	} `json:"head"`
}
