package agents

import (
	"os"
	"testing"

	"quartermaster/app/apptest"
)

func TestMain(m *testing.M) { os.Exit(apptest.Main(m)) }
