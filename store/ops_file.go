package store

import (
	"fmt"
	"io"

	"quartermaster/schema"
	"quartermaster/schema/fault"
)

func exampleFile() LicenseFile {
	return LicenseFile{
		File:  "eyJhbGciOiJFZERTQSIsImtpZCI6IjVmMWMwYTliZTI3ZDRlNjYiLCJ0eXAiOiJKV1QifQ.eyJqdGkiOiI4ZjAyIn0.c2lnbmF0dXJl",
		KeyID: exampleSigningKey().KeyID, ExpiresAt: exampleInstant, license: exampleLicense(),
	}
}

// badFile is what making a file refuses beside what badLicense does.
func badFile() []schema.Refusal {
	return append(badLicense(),
		schema.Refusal{Kind: fault.Forbidden, Code: isNotActivated,
			Detail: "The fingerprint holds no seat: activate it first."},
		schema.Refusal{Kind: fault.Conflict, Code: notSetUp, Detail: "The shop has no signing key yet."},
		schema.Refusal{
			Kind: fault.Conflict, Code: areRunning, Detail: "License files of released machines still run, one for each seat.",
			More: Running{Until: exampleInstant},
		})
}

func (s *Service) licenseFile() schema.Op {
	return schema.Op{
		Name: "get_license_file",
		About: "A signed file with which a machine with a seat works offline until the file ends: a JSON Web Token " +
			"(EdDSA) whose key is at GET /license/keys. A refusal carries its code in error, as activation does, and " +
			"not_activated, " +
			"not_set_up, files_running (409, with until).",
		Public: true, MaxBody: deviceBody, Writes: true, Refuses: []fault.Kind{fault.Limited, fault.Unavailable},
		Own:      badFile(),
		Response: exampleFile(),
		Bind: schema.Reads2(func(f *schema.Form, a *Asked, days **int64) {
			a.bindKey(f)
			a.bindFingerprint(f, schema.Required)
			a.bindSKU(f)
			bindFileDays(f, days)
		}, s.GetLicenseFile),
	}
}

func didFile(f LicenseFile) string { return fmt.Sprintf("The file runs until %s.", f.ExpiresAt) }

func (s *Service) makeLicenseFile() schema.Op {
	return schema.Op{
		Name: "make_license_file", About: "Create the signed license file of an offline machine. A machine without a seat " +
			"takes one first.",
		Writes: true, Response: exampleFile(), Refuses: []fault.Kind{fault.NotFound, fault.Unavailable},
		Example: "store license file 12 --fingerprint b0c4de8812 --label \"studio laptop\"",
		Print:   schema.Printed(func(w io.Writer, f LicenseFile) { fmt.Fprintln(w, f.File) }),
		Did:     schema.Said(didFile),
		Leads:   schema.Of(func(f LicenseFile) string { ; return licenseLeads(f.license.ID) }),
		Bind: schema.Writes(s.db, func(f *schema.Form, x *FileFor) {
			bindLicense(f, &x.License)
			f.Text(&x.Fingerprint, "fingerprint", "how the program identifies its machine", schema.Required, schema.Most(200),
				schema.Label("Machine"), schema.Example("b0c4de8812"))
			f.Text(&x.Label, "label", "a name for the machine", schema.Most(200), schema.Example("studio laptop"))
			bindFileDays(f, &x.Days)
		}, s.fileForMachine),
	}
}

func (s *Service) listLicenseFiles() schema.Op {
	example := IssuedFile{
		ID: "8f02c1d4aa51e07b", Fingerprint: "b0c4de8812", Label: "studio laptop", KeyID: exampleSigningKey().KeyID,
		IssuedAt: exampleInstant, ExpiresAt: exampleInstant + 30*day, Runs: true,
	}
	return schema.Op{
		Name: "list_license_files", About: "The newest 50 license files of a license, newest first.",
		Response: IssuedFiles{Files: []IssuedFile{example}}, Refuses: []fault.Kind{fault.NotFound},
		Example: "store license files 12",
		Print: schema.Printed(func(w io.Writer, l IssuedFiles) {
			schema.Tabulate(w, "FILE|MACHINE|LABEL|MADE|UNTIL|RUNS", l.Files, func(f IssuedFile) []any {
				return []any{f.ID, f.Fingerprint, f.Label, f.IssuedAt, f.ExpiresAt, yesNo(f.Runs)}
			})
		}),
		Bind: schema.Reads(bindLicense, s.LicenseFiles),
	}
}

// myLicenseFile is the buyer's: of a seat of theirs, or of a machine that cannot ask by itself.
func (s *Service) myLicenseFile() schema.Op {
	return schema.Op{
		Name: "get_license_file", About: "Download a license file for an offline machine. A machine without a seat takes " +
			"one first.",
		Writes: true, Response: exampleFile(), Refuses: []fault.Kind{fault.NotFound, fault.Limited, fault.Unavailable},
		Leads: func(any) string { return "/my" }, Did: schema.Said(didFile),
		Bind: schema.Writes(s.db, func(f *schema.Form, x *FileFor) {
			f.ID(&x.Seat, "activation_id", "a machine that holds a seat", schema.Label("Seat"), schema.Example(31))
			f.Text(&x.Fingerprint, "fingerprint",
				"the machine code that the program shows", schema.Most(200), schema.Label("Machine code"))
			f.Text(&x.Label, "label", "a name for the machine", schema.Most(200), schema.Label("Name of the machine"))
		}, s.getMyLicenseFile),
	}
}
