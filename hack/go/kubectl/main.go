// kubectl alone, as Kubernetes' own cmd/kubectl has it, for hosts that need
// none of the other Kubernetes commands.
package main

import (
	"os"

	_ "k8s.io/client-go/plugin/pkg/client/auth" // kubeconfigs with exec and OIDC credentials
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
)

func main() {
	// The verbosity must be known before the command is built: plugins and the
	// .kuberc file are handled during its construction.
	_, _ = logs.GlogSetter(cmd.GetLogVerbosity(os.Args))
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
}
