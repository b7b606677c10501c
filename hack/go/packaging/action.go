package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// A composite action of GitHub. A field that is not listed is an error.
type action struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Inputs      map[string]struct {
		Description string `json:"description"`
		Required    bool   `json:"required"`
		Default     string `json:"default"`
	} `json:"inputs"`
	Outputs map[string]struct {
		Description string `json:"description"`
		Value       string `json:"value"`
	} `json:"outputs"`
	Runs struct {
		Using string       `json:"using"`
		Steps []actionStep `json:"steps"`
	} `json:"runs"`
}

type actionStep struct {
	Name  string            `json:"name"`
	ID    string            `json:"id"`
	If    string            `json:"if"`
	Shell string            `json:"shell"`
	Env   map[string]string `json:"env"`
	Run   string            `json:"run"`
}

// actionScripts writes the shell of each step into the folder as 1.sh, 2.sh and so on.
func actionScripts(path, folder string) error {
	var one action
	if err := readYAML(path, &one); err != nil {
		return err
	}
	if one.Runs.Using != "composite" {
		return fmt.Errorf("%s: runs.using is not composite", path)
	}
	for index, step := range one.Runs.Steps {
		if step.Shell != "bash" || step.Run == "" {
			return fmt.Errorf("%s: the step %q has no script for bash", path, step.Name)
		}
		// As GitHub runs it.
		script := "#!/usr/bin/env bash\nset -eo pipefail\n" + step.Run
		file := filepath.Join(folder, fmt.Sprintf("%d.sh", index+1))
		if err := os.WriteFile(file, []byte(script), 0o700); err != nil {
			return err
		}
	}
	return nil
}
