// Command helm-template renders a chart with the stock Helm library, as `helm template` does: in order of installation, hooks first.
package main

import (
	"flag"
	"fmt"
	"os"
	"sort"
	"strings"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/cli/values"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/getter"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/releaseutil"
)

type list []string

func (l *list) String() string     { return strings.Join(*l, ",") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

func main() {
	var sets, files, without, apis list
	name := flag.String("release", "volcano", "name of the release")
	namespace := flag.String("namespace", "volcano-system", "its namespace")
	check := flag.Bool("lint", false, "look the chart over instead of rendering it")
	flag.Var(&sets, "set", "a value, key=value")
	flag.Var(&files, "values", "a file of values")
	flag.Var(&apis, "api", "an API the cluster has beside the usual ones")
	flag.Var(&without, "without-api", "an API the cluster lacks")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: helm-template [flags] CHART")
		os.Exit(2)
	}
	options := values.Options{ValueFiles: files, Values: sets}
	given, err := options.MergeValues(getter.Providers{})
	if err == nil && *check {
		err = look(flag.Arg(0), given, *namespace)
	} else if err == nil {
		err = render(flag.Arg(0), given, *name, *namespace, apis, without)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// look prints what `helm lint` finds and fails at warnings.
func look(path string, given map[string]any, namespace string) error {
	result := lint.AllWithKubeVersion(path, given, namespace, nil)
	for _, message := range result.Messages {
		fmt.Println(message)
	}
	if result.HighestSeverity >= support.WarningSev {
		return fmt.Errorf("%s: warnings", path)
	}
	return nil
}

func render(path string, given map[string]any, name, namespace string, apis, without []string) error {
	chart, err := loader.Load(path)
	if err != nil {
		return err
	}
	if err := chartutil.ProcessDependencies(chart, given); err != nil {
		return err
	}
	caps := chartutil.DefaultCapabilities.Copy()
	for _, api := range apis {
		caps.APIVersions = append(caps.APIVersions, api)
	}
	kept := chartutil.VersionSet{}
	for _, api := range caps.APIVersions {
		lacking := false
		for _, no := range without {
			lacking = lacking || api == no || strings.HasPrefix(api, no+"/")
		}
		if !lacking {
			kept = append(kept, api)
		}
	}
	caps.APIVersions = kept
	top, err := chartutil.ToRenderValues(chart, given, chartutil.ReleaseOptions{Name: name, Namespace: namespace, Revision: 1, IsInstall: true}, caps)
	if err != nil {
		return err
	}
	texts, err := engine.Render(chart, top)
	if err != nil {
		return err
	}
	for file := range texts {
		if strings.HasSuffix(file, "NOTES.txt") {
			delete(texts, file)
		}
	}
	hooks, manifests, err := releaseutil.SortManifests(texts, caps.APIVersions, releaseutil.InstallOrder)
	if err != nil {
		return err
	}
	sort.SliceStable(hooks, func(a, b int) bool { return before(hooks[a], hooks[b]) })
	for _, hook := range hooks {
		fmt.Printf("---\n# Source: %s\n%s\n", hook.Path, strings.TrimSpace(hook.Manifest))
	}
	for _, manifest := range manifests {
		fmt.Printf("---\n# Source: %s\n%s\n", manifest.Name, strings.TrimSpace(manifest.Content))
	}
	return nil
}

// before orders hooks as Helm runs them: by weight, then by kind.
func before(a, b *release.Hook) bool {
	if a.Weight != b.Weight {
		return a.Weight < b.Weight
	}
	place := func(kind string) int {
		for i, k := range releaseutil.InstallOrder {
			if k == kind {
				return i
			}
		}
		return len(releaseutil.InstallOrder)
	}
	if place(a.Kind) != place(b.Kind) {
		return place(a.Kind) < place(b.Kind)
	}
	return a.Name < b.Name
}
