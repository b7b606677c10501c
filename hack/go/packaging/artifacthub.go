package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// The values that Artifact Hub takes.
var (
	hubCategories   = []string{"ai-machine-learning", "database", "integration-delivery", "monitoring-logging", "networking", "security", "storage", "streaming-messaging", "skip-prediction"}
	hubCapabilities = []string{"Basic Install", "Seamless Upgrades", "Full Lifecycle", "Deep Insights", "Auto Pilot"}
	hubChanges      = []string{"added", "changed", "deprecated", "removed", "fixed", "security"}
)

// Annotations whose value is YAML.
type hubCRD struct {
	Kind        string `json:"kind"`
	Version     string `json:"version"`
	Name        string `json:"name"`
	DisplayName string `json:"displayName"`
	Description string `json:"description"`
}

type hubImage struct {
	Name        string `json:"name"`
	Image       string `json:"image"`
	Whitelisted bool   `json:"whitelisted"`
}

type hubLink struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

type hubChange struct {
	Kind        string    `json:"kind"`
	Description string    `json:"description"`
	Links       []hubLink `json:"links"`
}

type chart struct {
	Version     string            `json:"version"`
	Annotations map[string]string `json:"annotations"`
}

// artifactHub compares what Chart.yaml says to Artifact Hub with the chart as it is rendered.
func artifactHub(chartFile, rendered string, samples []string) error {
	text, err := os.ReadFile(chartFile)
	if err != nil {
		return err
	}
	var about chart
	if err := yaml.Unmarshal(text, &about); err != nil {
		return fmt.Errorf("%s: %w", chartFile, err)
	}
	all, err := objects(rendered, "CustomResourceDefinition", "ConfigMap")
	if err != nil {
		return err
	}
	return errors.Join(
		about.checkWords(), about.checkCRDs(all), about.checkExamples(samples), about.checkImages(all),
	)
}

// list fills items from the YAML of one annotation. An unknown field is an error.
func (chart chart) list(name string, items any) error {
	text := chart.Annotations["artifacthub.io/"+name]
	if text == "" {
		return fmt.Errorf("artifacthub.io/%s is missing", name)
	}
	if err := yaml.UnmarshalStrict([]byte(text), items); err != nil {
		return fmt.Errorf("artifacthub.io/%s: %w", name, err)
	}
	return nil
}

func (chart chart) checkWords() error {
	one := func(name string) string { return chart.Annotations["artifacthub.io/"+name] }
	var failures []error
	if !slices.Contains(hubCategories, one("category")) || !slices.Contains(hubCapabilities, one("operatorCapabilities")) {
		failures = append(failures, errors.New("Artifact Hub has no such category or operatorCapabilities"))
	}
	for _, name := range []string{"operator", "prerelease"} {
		if one(name) != "true" && one(name) != "false" {
			failures = append(failures, fmt.Errorf("artifacthub.io/%s is neither true nor false", name))
		}
	}
	var links []hubLink
	var changes []hubChange
	failures = append(failures, chart.list("links", &links), chart.list("changes", &changes))
	for _, change := range changes {
		if !slices.Contains(hubChanges, change.Kind) || change.Description == "" {
			failures = append(failures, fmt.Errorf("artifacthub.io/changes: %q is no kind of change, or nothing is said", change.Kind))
		}
		links = append(links, change.Links...)
	}
	for _, link := range links {
		if link.Name == "" || !strings.HasPrefix(link.URL, "https://") {
			failures = append(failures, fmt.Errorf("a link has no name or no address: %v", link))
		}
	}
	return errors.Join(failures...)
}

func (chart chart) checkCRDs(all []object) error {
	var listed []hubCRD
	if err := chart.list("crds", &listed); err != nil {
		return err
	}
	var said, are []string
	for _, crd := range listed {
		said = append(said, crd.Kind+" "+crd.Version+" "+crd.Name)
		if crd.DisplayName == "" || crd.Description == "" {
			return fmt.Errorf("artifacthub.io/crds: %s has no displayName or no description", crd.Name)
		}
	}
	for _, one := range all {
		for _, version := range one.Spec.Versions {
			are = append(are, one.Spec.Names.Kind+" "+version.Name+" "+one.Metadata.Name)
		}
	}
	return same("crds", said, are)
}

// checkExamples expects the samples, in their order. That they are legal is tested where the samples are.
func (chart chart) checkExamples(samples []string) error {
	var listed []any
	if err := chart.list("crdsExamples", &listed); err != nil {
		return err
	}
	var wanted []any
	for _, path := range samples {
		var sample any
		if err := readYAML(path, &sample); err != nil {
			return err
		}
		wanted = append(wanted, sample)
	}
	if !reflect.DeepEqual(listed, wanted) {
		return fmt.Errorf("artifacthub.io/crdsExamples are not %v: copy them without their comments", samples)
	}
	return nil
}

// checkImages compares with the images of the operator's configuration.
func (chart chart) checkImages(all []object) error {
	var listed []hubImage
	if err := chart.list("images", &listed); err != nil {
		return err
	}
	var said, are []string
	for _, image := range listed {
		said = append(said, image.Image)
		if !strings.HasSuffix(image.Image, "/"+image.Name+":"+chart.Version) {
			return fmt.Errorf("artifacthub.io/images: %s is not %s of version %s", image.Image, image.Name, chart.Version)
		}
	}
	for _, one := range all {
		var config struct {
			Images struct {
				References map[string]string `json:"references"`
			} `json:"images"`
		}
		if err := yaml.Unmarshal([]byte(one.Data["config.yaml"]), &config); err != nil {
			return err
		}
		are = slices.AppendSeq(are, maps.Values(config.Images.References))
	}
	return same("images", said, are)
}

func same(name string, said, are []string) error {
	slices.Sort(said)
	slices.Sort(are)
	if !slices.Equal(said, are) {
		return fmt.Errorf("artifacthub.io/%s: Chart.yaml lists\n  %v\nand the chart has\n  %v", name, said, are)
	}
	return nil
}
