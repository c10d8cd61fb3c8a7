package analysis

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// binomialTail is the chance of k or more hits in n tries of probability p:
// P(X ≥ k) = I_p(k, n−k+1), the regularised incomplete beta function.
func binomialTail(k, n int, p float64) float64 {
	switch {
	case k <= 0:
		return 1
	case k > n || p <= 0:
		return 0
	case p >= 1:
		return 1
	}
	return mathext.RegIncBeta(float64(k), float64(n-k+1), p)
}

// upperRate is the one-sided 95 % upper bound (Clopper–Pearson) of a failure
// rate of which k of n were seen: with k = 0 it is 1 − 0.05^(1/n), the exact
// form of the rule of three.
func upperRate(k, n int) float64 {
	switch {
	case n <= 0 || k >= n:
		return 1
	case k == 0:
		return -math.Expm1(math.Log(0.05) / float64(n))
	}
	return mathext.InvRegIncBeta(float64(k+1), float64(n-k), 0.95)
}

// quantile of sorted values, by the nearest rank: the smallest value that at
// least the share q of them do not exceed.
func quantile[T any](sorted []T, q float64) T {
	i := int(math.Ceil(q*float64(len(sorted)))) - 1
	return sorted[max(0, min(i, len(sorted)-1))]
}
