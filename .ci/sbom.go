// Command sbom lists the modules inside a binary as CycloneDX.
//
//	go run .ci/sbom.go VERSION UNIX_TIME BINARY
package main

import (
	"debug/buildinfo"
	"encoding/json"
	"log"
	"os"
	"strconv"
	"strings"
	"time"
)

type component struct {
	Type    string `json:"type"`
	BOMRef  string `json:"bom-ref"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`
	Hashes  []hash `json:"hashes,omitempty"`
}

type hash struct {
	Alg     string `json:"alg"`
	Content string `json:"content"`
}

func of(path, version string) component {
	purl := "pkg:golang/" + path + "@" + version
	return component{Type: "library", BOMRef: purl, Name: path, Version: version, PURL: purl}
}

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: sbom VERSION UNIX_TIME BINARY")
	}
	at, err := strconv.ParseInt(os.Args[2], 10, 64)
	if err != nil {
		log.Fatal(err)
	}
	info, err := buildinfo.ReadFile(os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	main := of(info.Path, os.Args[1])
	main.Type = "application"
	parts := []component{of("std", strings.TrimPrefix(info.GoVersion, "go"))}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		parts = append(parts, of(m.Path, m.Version))
	}
	refs := make([]string, len(parts))
	for i, p := range parts {
		refs[i] = p.BOMRef
	}
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	if err := out.Encode(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata":     map[string]any{"timestamp": time.Unix(at, 0).UTC().Format(time.RFC3339), "component": main},
		"components":   parts,
		"dependencies": []any{map[string]any{"ref": main.BOMRef, "dependsOn": refs}},
	}); err != nil {
		log.Fatal(err)
	}
}
