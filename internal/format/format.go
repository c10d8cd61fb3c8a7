// Package format writes numbers and untrusted text for people: every count,
// duration, percentage and quoted word that Cutwatch shows is written here, so
// that one value reads the same in a verdict, a report and a log.
//
// Nothing is rounded into a claim: a share is "0 %" or "100 %" only where it is
// exactly that, and a time is "0 ms" only where it is zero.
package format

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

const minus = "−" // U+2212

// Count writes a whole number with thousands separators: 0, 999, 1,000.
func Count[T ~int | ~int32 | ~int64](n T) string {
	digits := strconv.FormatInt(int64(n), 10)
	sign := ""
	if digits[0] == '-' {
		sign, digits = minus, digits[1:]
	}
	out := make([]byte, 0, len(digits)+len(digits)/3)
	for i := range len(digits) {
		if i > 0 && (len(digits)-i)%3 == 0 {
			out = append(out, ',')
		}
		out = append(out, digits[i])
	}
	return sign + string(out)
}

// Plural writes a count and its noun: "1 request", "3 requests".
func Plural[T ~int | ~int32 | ~int64](n T, one, many string) string {
	if n == 1 {
		return Count(n) + " " + one
	}
	return Count(n) + " " + many
}

// Duration writes a length of time with the unit that fits it:
// 0 ms, <0.1 ms, 0.4 ms, 21 ms, 999 ms, 1.0 s, 59.9 s, 1m 00s, 1h 00m.
func Duration(d time.Duration) string {
	if d < 0 {
		if d == math.MinInt64 {
			d++ // it has no positive counterpart
		}
		return minus + Duration(-d)
	}
	switch {
	case d == 0:
		return "0 ms"
	case d < 50*time.Microsecond:
		return "<0.1 ms"
	case d < 9950*time.Microsecond:
		return fmt.Sprintf("%.1f ms", tenths(d, time.Millisecond))
	case d < 999500*time.Microsecond:
		return fmt.Sprintf("%d ms", d.Round(time.Millisecond)/time.Millisecond)
	case d < 59950*time.Millisecond:
		return fmt.Sprintf("%.1f s", tenths(d, time.Second))
	}
	if s := d.Round(time.Second); s < time.Hour {
		return fmt.Sprintf("%dm %02ds", s/time.Minute, s%time.Minute/time.Second)
	}
	m := d.Round(time.Minute)
	return fmt.Sprintf("%dh %02dm", m/time.Hour, m%time.Hour/time.Minute)
}

// tenths is d in units, rounded half up to one decimal: in whole numbers, so
// that a threshold above and the rounding here agree.
func tenths(d, unit time.Duration) float64 {
	return float64((d+unit/20)/(unit/10)) / 10
}

// SignedCount writes a change of a count: +3, −2, 0.
func SignedCount[T ~int | ~int32 | ~int64](n T) string {
	if n > 0 {
		return "+" + Count(n)
	}
	return Count(n)
}

// SignedDuration writes a change of a length of time: +1.0 s, −21 ms, 0 ms.
func SignedDuration(d time.Duration) string {
	if d > 0 {
		return "+" + Duration(d)
	}
	return Duration(d)
}

// At writes a moment of the run, counted from its start: 0:41.0, 12:07.3.
// A moment before the start, which nothing recorded can have, is negative.
func At(d time.Duration) string {
	if d < 0 {
		return minus + At(-max(d, math.MinInt64+1))
	}
	t := d.Round(100 * time.Millisecond)
	return fmt.Sprintf("%d:%02d.%d", t/time.Minute, t%time.Minute/time.Second, t%time.Second/(100*time.Millisecond))
}

// Percent writes a fraction of one as a percentage, to the nearest:
// 0 %, <0.01 %, 0.06 %, 1.24 %, 49.2 %, 99.87 %, >99.99 %, 100 %.
// What is not a fraction between 0 and 1 is "unknown".
func Percent(f float64) string { return percent(f, math.Round) }

// PercentUp is [Percent] rounded up: for "fewer than" and "at most", which
// rounding down would make a false claim.
func PercentUp(f float64) string { return percent(f, ceil) }

// ceil is math.Ceil that forgives the last bits of a product like 0.0006·10⁴.
func ceil(x float64) float64 { return math.Ceil(x - 1e-9) }

func percent(f float64, round func(float64) float64) string {
	switch {
	case !(f >= 0 && f <= 1): // NaN too
		return "unknown"
	case f == 0:
		return "0 %"
	case f == 1:
		return "100 %"
	case f < 0.0001:
		return "<0.01 %"
	case f > 0.9999:
		return ">99.99 %"
	}
	hundredths := round(f * 10000)
	if hundredths < 1000 || hundredths > 9900 {
		return fmt.Sprintf("%.2f %%", min(hundredths, 9999)/100)
	}
	return fmt.Sprintf("%.1f %%", round(f*1000)/10)
}
