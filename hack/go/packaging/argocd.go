package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"
)

const healthKey = "resource.customizations.health."

// The libraries that Argo CD opens for a script of its ConfigMap: no strings, no files, no time.
var libraries = []struct {
	name string
	open lua.LGFunction
}{
	{lua.LoadLibName, lua.OpenPackage},
	{lua.BaseLibName, lua.OpenBase},
	{lua.TabLibName, lua.OpenTable},
}

// The health of an object, as Argo CD reports it.
var knownHealth = map[string]bool{"Healthy": true, "Progressing": true, "Degraded": true, "Suspended": true}

// An object with the health that it is to have. Message is a part of the message.
type example struct {
	Status  string         `json:"status"`
	Message string         `json:"message"`
	Object  map[string]any `json:"object"`
}

// argocd runs the health checks of the ConfigMap on every example.
func argocd(configMap string, examples []string) error {
	var config struct {
		Data map[string]string `json:"data"`
	}
	if err := readYAML(configMap, &config); err != nil {
		return err
	}
	var failures []error
	used := map[string]bool{}
	for _, path := range examples {
		var one example
		if err := readYAML(path, &one); err != nil {
			return err
		}
		key := scriptKey(one.Object)
		used[key] = true
		if err := one.check(config.Data[key]); err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", filepath.Base(path), err))
		}
	}
	for key := range config.Data {
		if !used[key] {
			failures = append(failures, fmt.Errorf("no example is of %s", key))
		}
	}
	return errors.Join(failures...)
}

// scriptKey is where Argo CD looks for the check of an object.
func scriptKey(object map[string]any) string {
	group, _, _ := strings.Cut(fmt.Sprint(object["apiVersion"]), "/")
	return fmt.Sprintf("%s%s_%s", healthKey, group, object["kind"])
}

func (one example) check(script string) error {
	if script == "" {
		return fmt.Errorf("the ConfigMap has no %s", scriptKey(one.Object))
	}
	status, message, err := health(script, one.Object)
	switch {
	case err != nil:
		return err
	case !knownHealth[status]:
		return fmt.Errorf("Argo CD has no health %q", status)
	case status != one.Status || !strings.Contains(message, one.Message) || message == "":
		return fmt.Errorf("is %s (%q) instead of %s (%q)", status, message, one.Status, one.Message)
	}
	return nil
}

// health runs the script as Argo CD does: the object is the global `obj`, and a second is all it has.
func health(script string, object map[string]any) (status, message string, err error) {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for _, library := range libraries {
		call := lua.P{Fn: state.NewFunction(library.open), Protect: true}
		if err := state.CallByParam(call, lua.LString(library.name)); err != nil {
			return "", "", err
		}
	}
	limit, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	state.SetContext(limit)
	state.SetGlobal("obj", luaValue(state, object))
	if err := state.DoString(script); err != nil {
		return "", "", err
	}
	result, isTable := state.Get(-1).(*lua.LTable)
	if !isTable {
		return "", "", fmt.Errorf("the script returns a %s instead of a table", state.Get(-1).Type())
	}
	return result.RawGetString("status").String(), result.RawGetString("message").String(), nil
}

func luaValue(state *lua.LState, value any) lua.LValue {
	switch value := value.(type) {
	case bool:
		return lua.LBool(value)
	case float64:
		return lua.LNumber(value)
	case string:
		return lua.LString(value)
	case []any:
		table := state.NewTable()
		for _, item := range value {
			table.Append(luaValue(state, item))
		}
		return table
	case map[string]any:
		table := state.NewTable()
		for key, item := range value {
			table.RawSetString(key, luaValue(state, item))
		}
		return table
	}
	return lua.LNil
}
