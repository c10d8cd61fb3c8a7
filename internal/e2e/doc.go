// Package e2e has tests alone: the action's image is built from the Dockerfile by
// a real Docker engine, and its containers are launched as a workflow's runner
// launches them (flags, mounts, labels, environment), around the deploy of a
// platform in a box in a container of its own; once by hand, where every
// interruption can be played, and once by act, from workflows.
//
// They run where CUTWATCH_E2E is set, since they take minutes and want the engine
// to themselves, and skip without an engine, but where CI is true: there they
// fail. They leave no container, network or file behind, which each test checks,
// and send traffic to containers that they made themselves, and to nothing else.
// What needs no engine (the release script, the workflows' form) is always tested.
package e2e
