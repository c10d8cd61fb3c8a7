package config

import "testing"

func TestRecordedHoldsNoQueryValues(t *testing.T) {
	c := Default()
	c.URL, c.SlowURL = "https://h/p?token=s3cret&a=", "https://h/slow?seconds={seconds}&key=s3cret#x"
	r := c.Recorded()
	if want := "https://h/p?token=***&a="; r.URL != want {
		t.Errorf("url %q, want %q", r.URL, want)
	}
	if want := "https://h/slow?seconds={seconds}&key=***#x"; r.SlowURL != want {
		t.Errorf("slow-url %q, want %q", r.SlowURL, want)
	}
	if c.URL != "https://h/p?token=s3cret&a=" {
		t.Errorf("the config itself was changed: %q", c.URL)
	}
}
