// Package trouble holds tests alone: whole runs in which it is the prober that
// is in trouble, and not the service. It is stopped for seconds, its network is
// taken away, it gets next to no CPU time, each while a deploy goes on that drops
// nothing. No request that is lost so may be laid at the deploy's door, and a
// cutover that was hidden so is no pass.
//
// Service, deploy and prober are processes of their own, so that what happens to
// the prober does not happen to them. The tests run on Linux. Those that take
// the network away need root and iproute2, to give the prober a network namespace
// of its own; without them they are skipped, save where CI=true: there they fail.
package trouble
