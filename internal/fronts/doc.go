// Package fronts holds tests alone: whole runs against load balancers that
// others wrote, nginx and HAProxy, while a deploy goes on behind them. What
// Cutwatch says was dropped is compared, request by request, with the load
// balancer's own log and with what the apps themselves recorded.
//
// The tests run on Linux, where they find nginx and haproxy. Without them they
// are skipped, save where CI=true: there they fail.
package fronts
