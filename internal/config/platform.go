package config

import (
	"slices"
	"strings"
)

// Platforms that can be followed.
const (
	PlatformNone         = "none"
	PlatformDigitalOcean = "digitalocean"
	PlatformGitHub       = "github"
)

// What a platform can be asked for.
const (
	TriggerNone    = "none"
	TriggerDeploy  = "deploy"
	TriggerRebuild = "rebuild"
	TriggerRestart = "restart"
)

// When there is a comment on the pull request.
const (
	CommentAuto      = "auto"
	CommentAlways    = "always"
	CommentOnFailure = "on-failure"
	CommentNever     = "never"
)

// MaxRepeat bounds the deploys of one run.
const MaxRepeat = 50

// Follows tells whether a platform tells of the deploy.
func (c *Config) Follows() bool { return c.Platform != "" && c.Platform != PlatformNone }

// Triggers tells whether the platform is asked to deploy.
func (c *Config) Triggers() bool { return c.Trigger != "" && c.Trigger != TriggerNone }

func (c *Config) checkPlatform() *InputError {
	return oneOf("platform", c.Platform, PlatformNone, PlatformDigitalOcean, PlatformGitHub)
}

func (c *Config) checkTrigger() *InputError {
	if err := oneOf("trigger", c.Trigger, TriggerNone, TriggerDeploy, TriggerRebuild, TriggerRestart); err != nil {
		return err
	}
	if c.Triggers() && c.Platform != PlatformDigitalOcean {
		return inputf("trigger", "%s needs a platform that can be asked to deploy; write platform: digitalocean, or leave trigger out", quote(c.Trigger))
	}
	return nil
}

func (c *Config) checkRepeat() *InputError {
	if c.Repeat < 1 || c.Repeat > MaxRepeat {
		return inputf("repeat", "got %d; write a number of deploys from 1 to %d", c.Repeat, MaxRepeat)
	}
	return nil
}

func (c *Config) checkDigitalOceanToken() *InputError {
	switch {
	case c.Platform != PlatformDigitalOcean:
		return nil
	case c.DigitalOceanToken == "":
		return inputf("digitalocean-token", "got nothing, and platform: digitalocean needs one; write a token with the scope app:read, from a secret")
	}
	return checkTokenText("digitalocean-token", c.DigitalOceanToken)
}

func (c *Config) checkGitHubToken() *InputError {
	if c.Platform == PlatformGitHub && c.GitHubToken == "" {
		return inputf("github-token", "got nothing, and platform: github needs one; write a token with the permission deployments: read")
	}
	return checkTokenText("github-token", c.GitHubToken)
}

// checkTokenText refuses what no header can carry. The token is not shown.
func checkTokenText(input, token string) *InputError {
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return inputf(input, "got a text with a blank or a character that no token has; write the token alone, without quotes or a line break")
	}
	return nil
}

func (c *Config) checkApp() *InputError {
	switch {
	case c.App == "" && c.Platform == PlatformDigitalOcean:
		return inputf("app", "got nothing, and platform: digitalocean needs it; write the app's id or name")
	case c.App != "" && !c.Follows():
		return inputf("app", "%s is of no use without a platform; write platform: digitalocean, or leave app out", quote(c.App))
	}
	return nil
}

func (c *Config) checkComment() *InputError {
	return oneOf("comment", c.Comment, CommentAuto, CommentAlways, CommentOnFailure, CommentNever)
}

// maxCommentKey bounds the key, in bytes.
const maxCommentKey = 200

func (c *Config) checkCommentKey() *InputError {
	if len(c.CommentKey) > maxCommentKey || strings.ContainsFunc(c.CommentKey, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return inputf("comment-key", "%s is over %d characters or not on one line; write a short name", quote(c.CommentKey), maxCommentKey)
	}
	return nil
}

// oneOf takes one of the words.
func oneOf(input, value string, words ...string) *InputError {
	if slices.Contains(words, value) {
		return nil
	}
	last := len(words) - 1
	return inputf(input, "got %s; write %s or %s", quote(value), strings.Join(words[:last], ", "), words[last])
}
