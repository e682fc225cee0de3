package page

import (
	"context"
	"embed"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/page"
	"quartermaster/store"
)

type signingView struct {
	store.SigningKeys
	api store.LicenseAPI
}

// samples are the programs of docs/keys.md that verify a license file.
//
//go:embed samples
var samples embed.FS

// sampleNames are the samples' languages and files.
var sampleNames = [][2]string{{"Go", "license.go"}, {"Python", "license.py"}, {"JavaScript", "license.mjs"}}

// sample is the program of that file with the shop's public keys in it.
func (v signingView) sample(file string) string {
	text, _ := samples.ReadFile("samples/" + file + ".txt") // it is embedded
	keys := schema.Map(v.Keys, func(k store.SigningKey) string { return `"` + k.KeyID + `": "` + k.Public + `"` })
	return strings.Replace(string(text), `"KEY-ID": "PUBLIC-KEY"`, strings.Join(keys, ", "), 1)
}

// signingKeys is the page of the keys that license files are signed with.
func signingKeys(s *store.Service) page.Page {
	return page.New(page.Spec[signingView]{
		Path: "/settings/license-keys", Title: "License keys", Setting: true,
		Load: page.Always(func(ctx context.Context, _ db.Caller) (signingView, error) {
			keys, err := s.SigningKeys(ctx)
			if err != nil {
				return signingView{}, err
			}
			api, err := s.LicenseAPI(ctx)
			return signingView{SigningKeys: keys, api: api}, err
		}),
		View: SigningKeys,
	})
}

func (v signingView) title() string {
	for _, k := range v.Keys {
		if k.Signs {
			return "License files are signed with " + k.KeyID
		}
	}
	return "No license files yet: the shop has no signing key"
}

// fileMachine is what the file's machine is called.
func fileMachine(f store.IssuedFile) string {
	if f.Label != "" {
		return f.Label
	}
	return "A machine without a seat now"
}
