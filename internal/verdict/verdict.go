// Package verdict judges an analysis against what was asked for: pass, fail or
// inconclusive, with reasons, and the exit code. It is pure.
package verdict

// Verdicts.
const (
	Pass         = "pass"
	Fail         = "fail"
	Inconclusive = "inconclusive"
)

// Codes of the one reason that a pass has.
const (
	ZeroDrop    = "zero-drop"    // the deploy lost nothing
	WithinLimit = "within-limit" // it lost no more than the inputs let pass
)

// Verdict is the judgement of one run.
type Verdict struct {
	Verdict  string
	Reasons  []Reason // why, most important first; of a pass: what it is worth
	ExitCode int      // 0 pass, 1 fail, 3 inconclusive, 4 the deploy itself failed
}

// Reason is one reason of a verdict.
type Reason struct {
	Code    string // "deploy-failures", "no-cutover", … ; ZeroDrop or WithinLimit of a pass
	Message string // one sentence with its numbers
}
