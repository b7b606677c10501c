package main

import (
	"fmt"
	"reflect"

	"sigs.k8s.io/yaml"
)

// artifactHub reads the annotations of Chart.yaml that are lists in YAML: Artifact Hub reports a mistake in them only
// after the release. The examples must be the samples, whose own tests show that they are valid.
func artifactHub(chart string, samples []string) error {
	var about map[string]any
	if err := readYAML(chart, &about); err != nil {
		return err
	}
	annotations, _ := about["annotations"].(map[string]any)
	lists := map[string][]map[string]any{}
	for _, name := range []string{"crds", "crdsExamples", "images", "links", "changes"} {
		var list []map[string]any
		text, _ := annotations["artifacthub.io/"+name].(string)
		if err := yaml.UnmarshalStrict([]byte(text), &list); err != nil {
			return fmt.Errorf("artifacthub.io/%s: %w", name, err)
		}
		if len(list) == 0 {
			return fmt.Errorf("artifacthub.io/%s is missing", name)
		}
		lists[name] = list
	}
	var wanted []map[string]any
	for _, path := range samples {
		var sample map[string]any
		if err := readYAML(path, &sample); err != nil {
			return err
		}
		wanted = append(wanted, sample)
	}
	if !reflect.DeepEqual(lists["crdsExamples"], wanted) {
		return fmt.Errorf("artifacthub.io/crdsExamples are not %v: copy them without their comments", samples)
	}
	return nil
}
