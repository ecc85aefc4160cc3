// Renders a chart as `helm template` does, with what Debian has of Helm's parts: Go's text/template, sprig and sigs.k8s.io/yaml.
//
//	render CHART RELEASE [KUBERNETES] <values.yaml
//
// Prints the documents of templates/, each file after "# Source: FILE", and NOTES.txt last. An error is one line; exit status 1.
// Source: Helm 3.16, pkg/engine and pkg/chartutil. Left out, since the chart has none: charts in charts, CRDs, lookup, --set.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"text/template"

	"github.com/Masterminds/semver/v3"
	"github.com/Masterminds/sprig/v3"
	"sigs.k8s.io/yaml"
)

type metadata struct {
	APIVersion, Name, Version, AppVersion, Description, Type, KubeVersion, Icon, Home string
}

type values = map[string]interface{}

type files map[string]string

func (all files) Get(name string) string { return all[name] }

func (all files) Glob(pattern string) files {
	found := files{}
	for name, text := range all {
		if matches, _ := filepath.Match(pattern, name); matches {
			found[name] = text
		}
	}
	return found
}

type kubeVersion struct{ Version, Major, Minor string }

func (version kubeVersion) String() string { return version.Version }

type apiVersions []string

func (all apiVersions) Has(wanted string) bool {
	for _, each := range all {
		if each == wanted {
			return true
		}
	}
	return false
}

// Values of a user over those of the chart: maps are merged, null takes a key away. (chartutil.CoalesceTables)
func coalesce(theirs, defaults values) values {
	for key, ours := range defaults {
		their, given := theirs[key]
		if !given {
			theirs[key] = ours
		} else if their == nil {
			delete(theirs, key)
		} else if inner, isMap := ours.(values); isMap {
			if over, isMap := their.(values); isMap {
				theirs[key] = coalesce(over, inner)
			}
		}
	}
	return theirs
}

// Functions of Helm's own beside sprig's. (engine/funcs.go, engine.initFunMap)
func functions(root *template.Template) template.FuncMap {
	all := sprig.TxtFuncMap()
	delete(all, "env")
	delete(all, "expandenv")
	all["toYaml"] = func(value interface{}) string {
		text, err := yaml.Marshal(value)
		if err != nil {
			return ""
		}
		return strings.TrimSuffix(string(text), "\n")
	}
	all["fromYaml"] = func(text string) values {
		found := values{}
		if err := yaml.Unmarshal([]byte(text), &found); err != nil {
			found["Error"] = err.Error()
		}
		return found
	}
	all["toJson"] = func(value interface{}) string {
		text, _ := json.Marshal(value)
		return string(text)
	}
	depth := map[string]int{}
	all["include"] = func(name string, data interface{}) (string, error) {
		if depth[name]++; depth[name] > 1000 {
			return "", fmt.Errorf("rendering template has a nested reference name: %s", name)
		}
		defer func() { depth[name]-- }()
		var text strings.Builder
		err := root.ExecuteTemplate(&text, name, data)
		return text.String(), err
	}
	all["tpl"] = func(text string, data interface{}) (string, error) {
		copied, err := root.Clone()
		if err != nil {
			return "", err
		}
		parsed, err := copied.New("tpl").Parse(text)
		if err != nil {
			return "", err
		}
		var made strings.Builder
		err = parsed.Execute(&made, data)
		return strings.ReplaceAll(made.String(), "<no value>", ""), err
	}
	all["required"] = func(message string, value interface{}) (interface{}, error) {
		if value == nil || value == "" {
			return nil, errors.New(message)
		}
		return value, nil
	}
	all["lookup"] = func(string, string, string, string) values { return values{} }
	return all
}

func readChart(folder string) (chart metadata, defaults values, templates []string, all files, err error) {
	all = files{}
	err = filepath.Walk(folder, func(path string, about os.FileInfo, err error) error {
		if err != nil || about.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(folder, path)
		all[name] = string(text)
		if strings.HasPrefix(name, "templates/") {
			templates = append(templates, name)
		}
		return err
	})
	if err != nil {
		return
	}
	sort.Strings(templates)
	if err = yaml.UnmarshalStrict([]byte(all["Chart.yaml"]), &chart); err != nil {
		return
	}
	err = yaml.Unmarshal([]byte(all["values.yaml"]), &defaults)
	return
}

func render(folder, release, kubernetes string, given []byte, out io.Writer) error {
	chart, defaults, templates, all, err := readChart(folder)
	if err != nil {
		return err
	}
	theirs := values{}
	if err := yaml.Unmarshal(given, &theirs); err != nil {
		return err
	}
	version, err := semver.NewVersion(kubernetes)
	if err != nil {
		return err
	}
	if chart.KubeVersion != "" {
		wanted, err := semver.NewConstraint(chart.KubeVersion)
		if err != nil {
			return err
		}
		if !wanted.Check(version) {
			return fmt.Errorf("chart requires kubeVersion: %s which is incompatible with Kubernetes %s", chart.KubeVersion, kubernetes)
		}
	}

	root := template.New("gotpl").Option("missingkey=zero")
	root.Funcs(functions(root))
	texts := files{} // .Files has none of the templates
	for name, text := range all {
		if !strings.HasPrefix(name, "templates/") && name != "Chart.yaml" && !strings.HasPrefix(name, "values.") {
			texts[name] = text
		}
	}
	top := values{
		"Chart":  chart,
		"Files":  texts,
		"Values": coalesce(theirs, defaults),
		"Release": values{"Name": release, "Namespace": "default", "Service": "Helm", "IsInstall": true, "IsUpgrade": false,
			"Revision": 1},
		"Capabilities": values{"APIVersions": apiVersions{"v1", "apps/v1", "policy/v1", "networking.k8s.io/v1"},
			"KubeVersion": kubeVersion{kubernetes, fmt.Sprint(version.Major()), fmt.Sprint(version.Minor())}},
	}
	for _, name := range templates {
		if _, err := root.New(chart.Name + "/" + name).Parse(all[name]); err != nil {
			return err
		}
	}
	notes := ""
	for _, name := range templates {
		if strings.HasPrefix(filepath.Base(name), "_") {
			continue
		}
		full := chart.Name + "/" + name
		top["Template"] = values{"Name": full, "BasePath": chart.Name + "/templates"}
		var text strings.Builder
		if err := root.ExecuteTemplate(&text, full, top); err != nil {
			return err
		}
		made := strings.ReplaceAll(text.String(), "<no value>", "")
		if filepath.Base(name) == "NOTES.txt" {
			notes = made
		} else if strings.TrimSpace(made) != "" {
			fmt.Fprintf(out, "---\n# Source: %s\n%s\n", full, made)
		}
	}
	fmt.Fprintf(out, "---\n# NOTES: %q\n", notes)
	return nil
}

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: render CHART RELEASE [KUBERNETES] <values.yaml")
		os.Exit(2)
	}
	kubernetes := "v1.30.0"
	if len(os.Args) > 3 {
		kubernetes = os.Args[3]
	}
	given, err := io.ReadAll(os.Stdin)
	var made strings.Builder
	if err == nil {
		err = render(os.Args[1], os.Args[2], kubernetes, given, &made)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
	fmt.Print(made.String())
}
