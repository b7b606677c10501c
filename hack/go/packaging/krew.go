package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// The fields of a manifest that krew v1alpha2 knows.
type krewPlugin struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Version          string         `json:"version"`
		Homepage         string         `json:"homepage"`
		ShortDescription string         `json:"shortDescription"`
		Description      string         `json:"description"`
		Caveats          string         `json:"caveats"`
		Platforms        []krewPlatform `json:"platforms"`
	} `json:"spec"`
}

type krewPlatform struct {
	Selector struct {
		MatchLabels map[string]string `json:"matchLabels"`
	} `json:"selector"`
	URI    string `json:"uri"`
	SHA256 string `json:"sha256"`
	Bin    string `json:"bin"`
}

var (
	krewName    = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	krewVersion = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)
)

// krew checks a manifest by the rules of krew's index, and that each archive in the folder is the one it names.
func krew(manifest, folder string) error {
	var plugin krewPlugin
	if err := readYAML(manifest, &plugin); err != nil {
		return err
	}
	name := strings.TrimSuffix(filepath.Base(manifest), ".yaml")
	failures := []error{plugin.check(name)}
	seen := map[string]bool{}
	for _, platform := range plugin.Spec.Platforms {
		labels := platform.Selector.MatchLabels
		key := labels["os"] + "/" + labels["arch"]
		if len(labels) != 2 || labels["os"] == "" || labels["arch"] == "" || seen[key] {
			failures = append(failures, fmt.Errorf("the selector %v is not one os and one arch of its own", labels))
		}
		seen[key] = true
		if err := platform.check(folder, plugin.Spec.Version); err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", key, err))
		}
	}
	return errors.Join(failures...)
}

func (plugin krewPlugin) check(name string) error {
	spec := plugin.Spec
	rules := []struct {
		holds bool
		says  string
	}{
		{plugin.APIVersion == "krew.googlecontainertools.github.com/v1alpha2", "apiVersion is none of krew's"},
		{plugin.Kind == "Plugin", "kind is not Plugin"},
		{plugin.Metadata.Name == name && krewName.MatchString(name), "metadata.name is not the file's name"},
		{krewVersion.MatchString(spec.Version), "spec.version is not v and a semantic version"},
		{strings.HasPrefix(spec.Homepage, "https://"), "spec.homepage is no address"},
		{spec.ShortDescription != "" && longest(spec.ShortDescription) <= 50 && !strings.Contains(spec.ShortDescription, "\n"),
			"spec.shortDescription is not one line of 50 characters at most"},
		{spec.Description != "" && longest(spec.Description) <= 80, "spec.description has lines of more than 80 characters"},
		{longest(spec.Caveats) <= 80, "spec.caveats has lines of more than 80 characters"},
		{len(spec.Platforms) > 0, "spec.platforms is empty"},
	}
	var failures []error
	for _, rule := range rules {
		if !rule.holds {
			failures = append(failures, errors.New(rule.says))
		}
	}
	return errors.Join(failures...)
}

func longest(text string) (characters int) {
	for _, line := range strings.Split(text, "\n") {
		characters = max(characters, len([]rune(line)))
	}
	return characters
}

// check reads the archive as krew does: its sum, then all of its files, among them the program and a licence.
func (platform krewPlatform) check(folder, version string) error {
	where, err := url.Parse(platform.URI)
	if err != nil || where.Scheme != "https" || !strings.Contains(where.Path, "/"+version+"/") {
		return fmt.Errorf("the uri %q is not that of version %s", platform.URI, version)
	}
	archive, err := os.ReadFile(filepath.Join(folder, path.Base(where.Path)))
	if err != nil {
		return err
	}
	sum := sha256.Sum256(archive)
	if found := hex.EncodeToString(sum[:]); found != platform.SHA256 {
		return fmt.Errorf("the archive's sha256 is %s, not %s", found, platform.SHA256)
	}
	modes, err := filesOf(archive)
	if err != nil {
		return err
	}
	if modes[platform.Bin]&0o111 == 0 || modes["LICENSE"] == 0 || len(modes) != 2 {
		return fmt.Errorf("the archive has %v instead of the program %s and LICENSE", modes, platform.Bin)
	}
	return nil
}

// filesOf is the name and the mode of each file in an archive.
func filesOf(archive []byte) (map[string]int64, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	modes := map[string]int64{}
	for files := tar.NewReader(unzipped); ; {
		file, err := files.Next()
		if err == io.EOF {
			return modes, nil
		}
		if err != nil {
			return nil, err
		}
		modes[file.Name] = file.Mode
	}
}
