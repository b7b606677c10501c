package main

import (
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// What is looked at of pods, Services and NetworkPolicies.
type helmObject struct {
	Kind     string   `json:"kind"`
	Metadata metadata `json:"metadata"`
	Spec     struct {
		RestartPolicy         string          `json:"restartPolicy"`
		ActiveDeadlineSeconds int             `json:"activeDeadlineSeconds"`
		AutomountToken        *bool           `json:"automountServiceAccountToken"`
		HostNetwork           bool            `json:"hostNetwork"`
		Volumes               []any           `json:"volumes"`
		SecurityContext       podSecurity     `json:"securityContext"`
		Containers            []testContainer `json:"containers"`
		PodSelector           struct {
			MatchLabels map[string]string `json:"matchLabels"`
		} `json:"podSelector"`
		Ports   []struct{ Port int } `json:"ports"`
		Ingress []struct {
			From []any `json:"from"`
		} `json:"ingress"`
	} `json:"spec"`
}

type podSecurity struct {
	RunAsNonRoot   bool                  `json:"runAsNonRoot"`
	RunAsUser      int                   `json:"runAsUser"`
	SeccompProfile struct{ Type string } `json:"seccompProfile"`
}

type testContainer struct {
	Image           string   `json:"image"`
	Args            []string `json:"args"`
	SecurityContext struct {
		AllowPrivilegeEscalation *bool                   `json:"allowPrivilegeEscalation"`
		ReadOnlyRootFilesystem   bool                    `json:"readOnlyRootFilesystem"`
		Privileged               bool                    `json:"privileged"`
		Capabilities             struct{ Drop []string } `json:"capabilities"`
	} `json:"securityContext"`
	Resources struct {
		Requests, Limits map[string]string
	} `json:"resources"`
}

// helmTest checks the pod of `helm test`: restricted, cleaned up, and let through by the NetworkPolicies to
// a Service of the chart.
func helmTest(rendered string) error {
	texts, err := documents(rendered)
	if err != nil {
		return err
	}
	var pods, services, policies []helmObject
	for _, text := range texts {
		// Of other kinds the fields have other types.
		var kind struct {
			Kind string `json:"kind"`
		}
		if err := yaml.Unmarshal([]byte(text), &kind); err != nil {
			return err
		}
		list := map[string]*[]helmObject{"Pod": &pods, "Service": &services, "NetworkPolicy": &policies}[kind.Kind]
		var one helmObject
		if list == nil {
			continue
		}
		if err := yaml.Unmarshal([]byte(text), &one); err != nil {
			return err
		}
		*list = append(*list, one)
	}
	if len(services) == 0 && len(pods) == 0 {
		return nil // without the Service there is nobody to ask
	}
	if len(pods) != 1 || len(pods[0].Spec.Containers) != 1 {
		return fmt.Errorf("%d pods instead of one of one container", len(pods))
	}
	return errors.Join(checkPod(pods[0]), checkWay(pods[0], services, policies))
}

func checkPod(pod helmObject) error {
	spec, only := pod.Spec, pod.Spec.Containers[0]
	security := only.SecurityContext
	isFalse := func(value *bool) bool { return value != nil && !*value }
	policy := strings.Split(pod.Metadata.Annotations["helm.sh/hook-delete-policy"], ",")
	rules := map[string]bool{
		"is no test of Helm":                   pod.Metadata.Annotations["helm.sh/hook"] == "test",
		"is not removed before the next":       slices.Contains(policy, "before-hook-creation"),
		"is not removed when it succeeded":     slices.Contains(policy, "hook-succeeded"),
		"may run for ever":                     spec.RestartPolicy == "Never" && spec.ActiveDeadlineSeconds > 0,
		"holds a token or volumes":             isFalse(spec.AutomountToken) && len(spec.Volumes) == 0 && !spec.HostNetwork,
		"may be root":                          spec.SecurityContext.RunAsNonRoot && spec.SecurityContext.RunAsUser > 0,
		"has no seccomp profile":               spec.SecurityContext.SeccompProfile.Type == "RuntimeDefault",
		"may gain privileges":                  isFalse(security.AllowPrivilegeEscalation) && !security.Privileged,
		"has capabilities, or a writable root": security.ReadOnlyRootFilesystem && reflect.DeepEqual(security.Capabilities.Drop, []string{"ALL"}),
		"has no requests or no memory limit":   only.Resources.Requests["cpu"] != "" && only.Resources.Requests["memory"] != "" && only.Resources.Limits["memory"] != "",
		"has an image without a version":       strings.Contains(only.Image[strings.LastIndex(only.Image, "/")+1:], ":") || strings.Contains(only.Image, "@"),
	}
	var failures []error
	for says, holds := range rules {
		if !holds {
			failures = append(failures, fmt.Errorf("the pod %s %s", pod.Metadata.Name, says))
		}
	}
	return errors.Join(failures...)
}

// checkWay follows the address that the pod asks. No Service and no NetworkPolicy may take the pod for one of its own.
func checkWay(pod helmObject, services, policies []helmObject) error {
	asked, err := url.Parse(pod.Spec.Containers[0].Args[len(pod.Spec.Containers[0].Args)-1])
	if err != nil {
		return err
	}
	isThere := func(service helmObject) bool {
		host := service.Metadata.Name + "." + service.Metadata.Namespace + ".svc"
		return asked.Hostname() == host && fmt.Sprint(service.Spec.Ports[0].Port) == asked.Port()
	}
	if !slices.ContainsFunc(services, isThere) {
		return fmt.Errorf("the pod asks %s, which is no Service of the chart", asked)
	}
	for _, policy := range policies {
		if selects(policy.Spec.PodSelector.MatchLabels, pod.Metadata.Labels) {
			return fmt.Errorf("the NetworkPolicy %s is for the pod, too", policy.Metadata.Name)
		}
		operators := policy.Spec.PodSelector.MatchLabels["app.kubernetes.io/component"] == "operator"
		if operators && (len(policy.Spec.Ingress) != 1 || len(policy.Spec.Ingress[0].From) != 0) {
			return fmt.Errorf("the NetworkPolicy %s does not let the pod through", policy.Metadata.Name)
		}
	}
	if pod.Metadata.Labels["app.kubernetes.io/component"] == "operator" {
		return errors.New("the Service would send requests to the pod")
	}
	return nil
}

func selects(wanted, labels map[string]string) bool {
	for key, value := range wanted {
		if labels[key] != value {
			return false
		}
	}
	return true
}
