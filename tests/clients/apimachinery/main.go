// Upstream's specs of sig-api-machinery and sig-auth, and the webhook of its agnhost image: "apimachinery webhook FLAGS" is the latter.
package main

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"k8s.io/kubernetes/test/e2e/framework"
	"k8s.io/kubernetes/test/e2e/framework/config"
	"k8s.io/kubernetes/test/images/agnhost/webhook"

	_ "k8s.io/kubernetes/test/e2e/apimachinery"
	_ "k8s.io/kubernetes/test/e2e/auth"
)

// The testing interface that ginkgo requires.
type specs struct{ failed bool }

func (s *specs) Fail() { s.failed = true }

func main() {
	if len(os.Args) > 1 && os.Args[1] == "webhook" {
		webhook.CmdWebhook.SetArgs(os.Args[2:])
		if err := webhook.CmdWebhook.Execute(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	testing.Init() // the flags of a test's program, which ginkgo sets
	config.CopyFlags(config.Flags, flag.CommandLine)
	framework.RegisterCommonFlags(flag.CommandLine)
	framework.RegisterClusterFlags(flag.CommandLine)
	flag.Parse()
	framework.AfterReadingAllFlags(&framework.TestContext)
	gomega.RegisterFailHandler(framework.Fail)
	suite, reporter := framework.CreateGinkgoConfig()
	state := &specs{}
	ginkgo.RunSpecs(state, "specs", suite, reporter)
	if state.failed {
		os.Exit(1)
	}
}
