package page

import (
	"context"

	"github.com/a-h/templ"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/page"
	"quartermaster/store"
)

type signingView struct {
	store.SigningKeys
	samples string // where programs find how to verify a file
	api     store.LicenseAPI
}

// signingKeys is the page of the keys that license files are signed with.
func signingKeys(s *store.Service) page.Page {
	return page.New(page.Spec[signingView]{
		Path: "/settings/license-keys", Title: "License keys",
		Load: func(*schema.Form) page.Loader[signingView] {
			return func(ctx context.Context, _ db.Caller) (signingView, error) {
				keys, err := s.SigningKeys(ctx)
				if err != nil {
					return signingView{}, err
				}
				api, err := s.LicenseAPI(ctx)
				return signingView{SigningKeys: keys, samples: "/license/keys", api: api}, err
			}
		},
		View: func(v signingView) templ.Component { return SigningKeys(v) },
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
