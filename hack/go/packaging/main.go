// What is published in addition to the images, checked as those who take it read it.
package main

import (
	"fmt"
	"os"

	"sigs.k8s.io/yaml"
)

const usage = `Usage: packaging argocd CONFIGMAP EXAMPLE...    run the health checks of the ConfigMap on examples
       packaging artifacthub CHART SAMPLE...    read the annotations of Chart.yaml, and compare its examples with samples
       packaging action ACTION FOLDER           write the scripts of an action's steps into the folder`

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	switch {
	case len(arguments) >= 3 && arguments[0] == "argocd":
		return argocd(arguments[1], arguments[2:])
	case len(arguments) >= 3 && arguments[0] == "artifacthub":
		return artifactHub(arguments[1], arguments[2:])
	case len(arguments) == 3 && arguments[0] == "action":
		return actionScripts(arguments[1], arguments[2])
	}
	return fmt.Errorf("%s", usage)
}

// readYAML fills value from a file. An unknown field is an error.
func readYAML(path string, value any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := yaml.UnmarshalStrict(text, value); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
