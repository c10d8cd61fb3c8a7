package box

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	MaybeRunApp()
	maybeRunParent()
	os.Exit(m.Run())
}
