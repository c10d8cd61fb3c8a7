package run

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/cutwatch/cutwatch/internal/sample/sampletest"
)

// judgeVar has the test's binary judge the file in it and print the peak of its
// memory in kB: a process of its own, so that nothing else is measured.
const judgeVar = "CUTWATCH_RUN_JUDGE"

func TestMain(m *testing.M) {
	path := os.Getenv(judgeVar)
	if path == "" {
		os.Exit(m.Run())
	}
	if err := judgeAndTellPeak(path); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func judgeAndTellPeak(path string) error {
	out, err := Judge(path)
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if err := errors.Join(WriteResult(dir, out.Result), WriteHTML(dir, out)); err != nil {
		return err
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	peak, _, _ = strings.Cut(peak, "kB")
	fmt.Println(out.Analysis.Requests.Total, strings.TrimSpace(peak))
	return nil
}

func TestAMillionSamplesJudgedInLittleMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the peak is read from /proc, which Linux alone has")
	}
	const limit = 300 << 10 // kB
	path := filepath.Join(t.TempDir(), "s")
	if err := sampletest.Write(path, sampletest.Options{Samples: manySamples}); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), judgeVar+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	const mostHTML = 2_000_000 // bytes
	page, err := os.Stat(filepath.Join(filepath.Dir(path), HTMLFile))
	if err != nil || page.Size() > mostHTML || page.Size() < mostHTML/100 {
		t.Errorf("the page of a million samples is %v, %v; want at most %d bytes of it", page, err, mostHTML)
	} else {
		t.Logf("the page takes %d kB", page.Size()/1000)
	}
	fields := strings.Fields(string(out))
	if len(fields) != 2 || fields[0] != strconv.Itoa(manySamples) {
		t.Fatalf("the child printed %q, want %d requests and its peak", out, manySamples)
	}
	peak, err := strconv.Atoi(fields[1])
	if err != nil || peak == 0 {
		t.Fatalf("the child printed %q, want its peak in kB", out)
	}
	t.Logf("%s samples judged with a peak of %d MB", fields[0], peak>>10)
	if peak > limit {
		t.Errorf("peak %d MB, want %d at most", peak>>10, limit>>10)
	}
}
