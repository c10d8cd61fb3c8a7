package digitalocean

import (
	"context"
	"net/http"
	"regexp"
	"time"

	"github.com/digitalocean/godo"
)

// Pages of a list that are asked for.
const (
	perPage  = 100 // of apps
	latest   = 20  // deployments
	maxPages = 50
)

var uuid = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// findApp is the app of that id or name.
func (c *client) findApp(ctx context.Context, given string, trouble func(error)) (*godo.App, error) {
	if uuid.MatchString(given) {
		app, err := c.app(ctx, given, trouble)
		if err == nil {
			return app, nil
		}
		if status(err) != http.StatusNotFound {
			return nil, c.explain(err, "read the app", scopeRead)
		}
	}
	apps, err := c.listApps(ctx, trouble)
	if err != nil {
		return nil, c.explain(err, "list the apps", scopeRead)
	}
	for _, a := range apps {
		if a.ID == given || nameOf(a) == given {
			return a, nil
		}
	}
	return nil, c.noSuchApp(given, apps)
}

func (c *client) app(ctx context.Context, id string, trouble func(error)) (*godo.App, error) {
	return get(ctx, c, c.pace.prepare, trouble, func(ctx context.Context) (*godo.App, *godo.Response, error) {
		app, resp, err := c.apps.Get(ctx, id)
		if err == nil && (app == nil || app.ID == "") {
			err = errNothing
		}
		return app, resp, err
	})
}

// listApps is all apps that the token sees.
func (c *client) listApps(ctx context.Context, trouble func(error)) ([]*godo.App, error) {
	var all []*godo.App
	for page := 1; page <= maxPages; page++ {
		last := false
		apps, err := get(ctx, c, c.pace.prepare, trouble, func(ctx context.Context) ([]*godo.App, *godo.Response, error) {
			apps, resp, err := c.apps.List(ctx, &godo.ListOptions{Page: page, PerPage: perPage})
			last = err == nil && (len(apps) < perPage || resp.Links == nil || resp.Links.IsLastPage())
			return apps, resp, err
		})
		if err != nil {
			return nil, err
		}
		for _, a := range apps {
			if a != nil && a.ID != "" {
				all = append(all, a)
			}
		}
		if last {
			break
		}
	}
	return all, nil
}

// deployment is one deployment of the app.
func (c *client) deployment(ctx context.Context, app, id string, trouble func(error)) (*godo.Deployment, error) {
	return get(ctx, c, c.pace.giveUp, trouble, func(ctx context.Context) (*godo.Deployment, *godo.Response, error) {
		d, resp, err := c.apps.GetDeployment(ctx, app, id)
		if err == nil && (d == nil || d.ID == "") {
			err = errNothing
		}
		return d, resp, err
	})
}

// deployments is the latest deployments of the app; the order is the API's.
func (c *client) deployments(ctx context.Context, app string, patience time.Duration, trouble func(error)) ([]*godo.Deployment, error) {
	return get(ctx, c, patience, trouble, func(ctx context.Context) ([]*godo.Deployment, *godo.Response, error) {
		list, resp, err := c.apps.ListDeployments(ctx, app, &godo.ListOptions{Page: 1, PerPage: latest})
		var whole []*godo.Deployment
		for _, d := range list {
			if d != nil && d.ID != "" {
				whole = append(whole, d)
			}
		}
		return whole, resp, err
	})
}
