// Renders a chart as `helm template` does, with what Debian has of Helm's parts: Go's text/template, sprig and sigs.k8s.io/yaml.
//
//	render CHART RELEASE [KUBERNETES] <values.yaml
//
// Prints {"documents": [...], "notes": "..."}: what Go's YAML reads in the templates, as Helm and Kubernetes do, and NOTES.txt. It is
// stricter than many a reader, such as Python's. An error is one line; exit status 1.
// Source: Helm 3.16, pkg/engine and pkg/chartutil. What our chart has no use for is left out, such as tpl, lookup and Capabilities.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"text/template"

	"github.com/Masterminds/semver/v3"
	"github.com/Masterminds/sprig/v3"
	"sigs.k8s.io/yaml"
)

type metadata struct {
	APIVersion, Name, Version, AppVersion, Description, Type, KubeVersion string
}

type values = map[string]interface{}

type files map[string]string

func (all files) Get(name string) string { return all[name] }

// Where Helm cuts a file into documents. (releaseutil.SplitManifests)
var between = regexp.MustCompile(`(?:^|\s*\n)---\s*`)

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
	all["include"] = func(name string, data interface{}) (string, error) {
		var text strings.Builder
		err := root.ExecuteTemplate(&text, name, data)
		return text.String(), err
	}
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

func checkKubernetes(chart metadata, kubernetes string) error {
	version, err := semver.NewVersion(kubernetes)
	if err != nil {
		return err
	}
	wanted, err := semver.NewConstraint(chart.KubeVersion)
	if err == nil && !wanted.Check(version) {
		err = fmt.Errorf("chart requires kubeVersion: %s which is incompatible with Kubernetes %s", chart.KubeVersion, kubernetes)
	}
	return err
}

func render(folder, release, kubernetes string, given []byte) (made values, err error) {
	chart, defaults, templates, all, err := readChart(folder)
	if err != nil {
		return nil, err
	}
	theirs := values{}
	if err := yaml.Unmarshal(given, &theirs); err != nil {
		return nil, err
	}
	if err := checkKubernetes(chart, kubernetes); err != nil {
		return nil, err
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
		"Chart":   chart,
		"Files":   texts,
		"Values":  coalesce(theirs, defaults),
		"Release": values{"Name": release, "Namespace": "default", "Service": "Helm"},
	}
	for _, name := range templates {
		if _, err := root.New(name).Parse(all[name]); err != nil {
			return nil, err
		}
	}
	documents, notes := []values{}, ""
	for _, name := range templates {
		if strings.HasPrefix(filepath.Base(name), "_") {
			continue
		}
		var made strings.Builder
		if err := root.ExecuteTemplate(&made, name, top); err != nil {
			return nil, err
		}
		text := strings.ReplaceAll(made.String(), "<no value>", "")
		if filepath.Base(name) == "NOTES.txt" {
			notes = text
			continue
		}
		for _, each := range between.Split(text, -1) {
			document := values{}
			if err := yaml.UnmarshalStrict([]byte(each), &document); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if len(document) > 0 {
				documents = append(documents, document)
			}
		}
	}
	return values{"documents": documents, "notes": notes}, nil
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
	var made values
	if err == nil {
		made, err = render(os.Args[1], os.Args[2], kubernetes, given)
	}
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(made)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}
