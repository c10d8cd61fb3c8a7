package format_test

import (
	"math"
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/format"
)

func TestCount(t *testing.T) {
	for _, c := range []struct {
		n    int64
		want string
	}{
		{0, "0"}, {7, "7"}, {999, "999"}, {1000, "1,000"}, {85892, "85,892"}, {999999, "999,999"},
		{1000000, "1,000,000"}, {-1, "−1"}, {-999, "−999"}, {-1000, "−1,000"},
		{math.MaxInt64, "9,223,372,036,854,775,807"}, {math.MinInt64, "−9,223,372,036,854,775,808"},
	} {
		if got := format.Count(c.n); got != c.want {
			t.Errorf("Count(%d) = %q, want %q", c.n, got, c.want)
		}
	}
}

func TestPlural(t *testing.T) {
	for n, want := range map[int]string{0: "0 requests", 1: "1 request", 2: "2 requests", 1000: "1,000 requests"} {
		if got := format.Plural(n, "request", "requests"); got != want {
			t.Errorf("Plural(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestDuration(t *testing.T) {
	const us, ms, s, m, h = time.Microsecond, time.Millisecond, time.Second, time.Minute, time.Hour
	for _, c := range []struct {
		d    time.Duration
		want string
	}{
		{0, "0 ms"}, {1, "<0.1 ms"}, {50*us - 1, "<0.1 ms"},
		{50 * us, "0.1 ms"}, {449 * us, "0.4 ms"}, {450 * us, "0.5 ms"}, {1 * ms, "1.0 ms"},
		{9950*us - 1, "9.9 ms"}, {9950 * us, "10 ms"}, {10 * ms, "10 ms"}, {21 * ms, "21 ms"},
		{999500*us - 1, "999 ms"}, {999500 * us, "1.0 s"}, {1 * s, "1.0 s"},
		{1049 * ms, "1.0 s"}, {1050 * ms, "1.1 s"}, {15 * s, "15.0 s"},
		{59949 * ms, "59.9 s"}, {59950 * ms, "1m 00s"}, {60 * s, "1m 00s"}, {89500 * ms, "1m 30s"},
		{h - 501*ms, "59m 59s"}, {h - 500*ms, "1h 00m"}, {h, "1h 00m"}, {25*h + 29*s, "25h 00m"}, {25*h + 30*s, "25h 01m"},
		{h + 59*m + 30*s, "2h 00m"},
		{-120 * ms, "−120 ms"}, {-1, "−<0.1 ms"}, {math.MinInt64, "−2562047h 47m"},
	} {
		if got := format.Duration(c.d); got != c.want {
			t.Errorf("Duration(%d) = %q, want %q", c.d, got, c.want)
		}
	}
}

func TestAt(t *testing.T) {
	for _, c := range []struct {
		d    time.Duration
		want string
	}{
		{0, "0:00.0"}, {49 * time.Millisecond, "0:00.0"}, {50 * time.Millisecond, "0:00.1"},
		{41 * time.Second, "0:41.0"}, {59949 * time.Millisecond, "0:59.9"}, {59950 * time.Millisecond, "1:00.0"},
		{75*time.Minute + 3200*time.Millisecond, "75:03.2"}, {-time.Second, "−0:01.0"},
	} {
		if got := format.At(c.d); got != c.want {
			t.Errorf("At(%d) = %q, want %q", c.d, got, c.want)
		}
	}
}

func TestPercent(t *testing.T) {
	for _, c := range []struct {
		f        float64
		want, up string
	}{
		{0, "0 %", "0 %"}, {1e-12, "<0.01 %", "<0.01 %"}, {0.0000999, "<0.01 %", "<0.01 %"},
		{0.0001, "0.01 %", "0.01 %"}, {0.0006, "0.06 %", "0.06 %"}, {0.00061, "0.06 %", "0.07 %"},
		{0.0124, "1.24 %", "1.24 %"}, {0.09994, "9.99 %", "10.0 %"}, {0.1, "10.0 %", "10.0 %"},
		{0.4917, "49.2 %", "49.2 %"}, {0.491, "49.1 %", "49.1 %"}, {0.4911, "49.1 %", "49.2 %"},
		{0.99, "99.0 %", "99.0 %"}, {0.9987, "99.87 %", "99.87 %"}, {0.9999, "99.99 %", "99.99 %"},
		{0.99991, ">99.99 %", ">99.99 %"}, {1 - 1e-12, ">99.99 %", ">99.99 %"}, {1, "100 %", "100 %"},
		{math.NaN(), "unknown", "unknown"}, {-0.1, "unknown", "unknown"}, {1.1, "unknown", "unknown"},
	} {
		if got := format.Percent(c.f); got != c.want {
			t.Errorf("Percent(%v) = %q, want %q", c.f, got, c.want)
		}
		if got := format.PercentUp(c.f); got != c.up {
			t.Errorf("PercentUp(%v) = %q, want %q", c.f, got, c.up)
		}
	}
}

func TestSigned(t *testing.T) {
	for n, want := range map[int]string{0: "0", 1: "+1", 999: "+999", 1000: "+1,000", -1: "−1", -1000: "−1,000"} {
		if got := format.SignedCount(n); got != want {
			t.Errorf("SignedCount(%d) = %q, want %q", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		0: "0 ms", 1: "+<0.1 ms", 21 * time.Millisecond: "+21 ms", -21 * time.Millisecond: "−21 ms", time.Second: "+1.0 s",
	} {
		if got := format.SignedDuration(d); got != want {
			t.Errorf("SignedDuration(%d) = %q, want %q", d, got, want)
		}
	}
}
