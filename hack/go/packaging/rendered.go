package main

import (
	"fmt"
	"os"
	"strings"

	"sigs.k8s.io/yaml"
)

// The fields of rendered objects that are looked at.
type object struct {
	Kind     string   `json:"kind"`
	Metadata metadata `json:"metadata"`
	Spec     struct {
		Names struct {
			Kind string `json:"kind"`
		} `json:"names"`
		Versions []struct {
			Name string `json:"name"`
		} `json:"versions"`
	} `json:"spec"`
	Data map[string]string `json:"data"`
}

type metadata struct {
	Name        string            `json:"name"`
	Namespace   string            `json:"namespace"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// documents are the texts of the objects that `helm template` wrote.
func documents(rendered string) ([]string, error) {
	text, err := os.ReadFile(rendered)
	if err != nil {
		return nil, err
	}
	return strings.Split("\n"+string(text), "\n---\n"), nil
}

// objects are those of `helm template`, of some kinds alone.
func objects(rendered string, kinds ...string) ([]object, error) {
	texts, err := documents(rendered)
	if err != nil {
		return nil, err
	}
	var found []object
	for _, text := range texts {
		var one object
		if err := yaml.Unmarshal([]byte(text), &one); err != nil {
			return nil, fmt.Errorf("%s: %w", rendered, err)
		}
		for _, kind := range kinds {
			if one.Kind == kind {
				found = append(found, one)
			}
		}
	}
	return found, nil
}
