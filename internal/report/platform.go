package report

import (
	"fmt"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/format"
)

// platformText is which platform was followed, and what old lived by there.
func platformText(p *analysis.Platform) string {
	if p == nil {
		return ""
	}
	text := format.Name(p.Kind, 30)
	if p.App != "" {
		text += ", " + format.Name(p.App, 60)
	}
	set := list(setTo("drain", p.DrainSeconds, "s"), setTo("grace", p.GracePeriodSeconds, "s"), setTo("instances", p.InstanceCount, ""))
	if p.Component != "" && set != "" {
		set = format.Name(p.Component, 60) + " is set to " + set
	}
	if set != "" {
		text += "; " + set
	}
	if p.DeploymentID != "" {
		text += "; deployment " + format.Name(p.DeploymentID, 60)
	}
	return text
}

// setTo is a setting and its unit, "" where it is not known.
func setTo(what string, n *int, unit string) string {
	switch {
	case n == nil:
		return ""
	case unit == "":
		return what + " " + format.Count(*n)
	}
	return fmt.Sprintf("%s %s %s", what, format.Count(*n), unit)
}
