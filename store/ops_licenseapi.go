package store

import (
	"context"
	"fmt"
	"io"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// APIActivated is the answer to an activation.
type APIActivated struct {
	answered
	Activated bool         `json:"activated"`
	Instance  *APIInstance `json:"instance"`
}

// APIValidated is the answer to a validation.
type APIValidated struct {
	answered
	Valid    bool         `json:"valid"`
	Instance *APIInstance `json:"instance" about:"null unless one was named"`
}

// APIDeactivated is the answer to a deactivation.
type APIDeactivated struct {
	answered
	Deactivated bool `json:"deactivated"`
}

// HTTPStatus is 200, or the refusal's.
func (a answered) HTTPStatus() int { return a.status }

func exampleAnswered() answered {
	l := exampleLicense()
	return answered{status: 200, LicenseKey: apiKey(l), Meta: &APIMeta{
		StoreID: 1, OrderID: 9, OrderItemID: 3, ProductID: 4711, ProductName: "Audio plugin", VariantID: 12345,
		VariantName: "pro",
		CustomerID:  7, CustomerName: "Ann Lee", CustomerEmail: l.CustomerEmail,
	}}
}

var exampleInstance = &APIInstance{ID: "47596ad9-a811-4ebf-ac8a-03fc7b6d2a17", Name: "studio laptop",
	CreatedAt: apiTime(exampleInstant)}

// apiOp is what the three calls have in common. shape wraps what was answered.
func (s *Service) apiOp(name, about string, example any, shape func(answered) any) schema.Op {
	return schema.Op{
		Name: name, About: about + " Like Lemon Squeezy's License API, if an admin has turned it on; otherwise 404.",
		Public: true, MaxBody: deviceBody, Foreign: func(status int, detail string) any {
			return shape(answered{status: status, Error: &detail})
		},
		Ready: func(ctx context.Context) error {
			set, err := s.LicenseAPI(ctx)
			if err == nil && !set.On {
				err = fault.NotFoundf("Not Found.")
			}
			return err
		},
		Refuses: []fault.Kind{fault.Limited, fault.NotFound}, Response: example, Statuses: []int{200, 400, 404, 413, 415, 422,
			429, 500, 503},
	}
}

func bindAPIKey(f *schema.Form, a *Asked) {
	f.Text(&a.Key, "license_key", "the license key", schema.Most(mostKey), schema.Example(exampleLicense().Key))
	f.Remote(&a.Remote)
}

func bindInstance(f *schema.Form, a *Asked) {
	f.Text(&a.Fingerprint, "instance_id", "the instance that an activation made", schema.Most(mostKey),
		schema.Example(exampleInstance.ID))
}

func activatedOf(a answered) any {
	return APIActivated{answered: a, Activated: a.Error == nil, Instance: a.instance}
}

func (s *Service) apiActivate() schema.Op {
	op := s.apiOp("activate_license_key", "Take a new seat of a license for an instance.",
		APIActivated{exampleAnswered(), true, exampleInstance}, activatedOf)
	op.Writes = true
	op.Bind = func(f *schema.Form) schema.Handler {
		var a Asked
		var name string
		bindAPIKey(f, &a)
		f.Text(&name, "instance_name", "a name for the machine", schema.Example(exampleInstance.Name))
		return func(ctx context.Context, _ db.Caller) (any, error) {
			if text := missing("license_key", a.Key, "instance_name", name); text != "" {
				return op.Foreign(422, text), nil
			}
			call, err := s.beginCall(ctx, a)
			id := ""
			if err == nil {
				err = apiName(name)
			}
			if err == nil {
				id, err = call.activate(ctx, name)
			}
			answer, err := call.answer(ctx, id, err)
			return activatedOf(answer), err
		}
	}
	return op
}

func validatedOf(a answered) any {
	return APIValidated{answered: a, Valid: a.Error == nil, Instance: a.instance}
}

func (s *Service) apiValidate() schema.Op {
	op := s.apiOp("validate_license_key",
		"Check a license, and an instance if one is named.", APIValidated{exampleAnswered(), true, exampleInstance},
		validatedOf)
	op.Idempotent = true
	op.Bind = func(f *schema.Form) schema.Handler {
		var a Asked
		bindAPIKey(f, &a)
		bindInstance(f, &a)
		return func(ctx context.Context, _ db.Caller) (any, error) {
			if text := missing("license_key", a.Key); text != "" {
				return op.Foreign(422, text), nil
			}
			call, err := s.beginCall(ctx, a)
			if err == nil {
				err = call.validate()
			}
			answer, err := call.answer(ctx, a.Fingerprint, err)
			return validatedOf(answer), err
		}
	}
	return op
}

func deactivatedOf(a answered) any { return APIDeactivated{answered: a, Deactivated: a.Error == nil} }

func (s *Service) apiDeactivate() schema.Op {
	op := s.apiOp("deactivate_license_key",
		"Release the seat of an instance.", APIDeactivated{exampleAnswered(), true}, deactivatedOf)
	op.Writes = true
	op.Bind = func(f *schema.Form) schema.Handler {
		var a Asked
		bindAPIKey(f, &a)
		bindInstance(f, &a)
		return func(ctx context.Context, _ db.Caller) (any, error) {
			if text := missing("license_key", a.Key, "instance_id", a.Fingerprint); text != "" {
				return op.Foreign(422, text), nil
			}
			call, err := s.beginCall(ctx, a)
			if err == nil {
				err = call.deactivate(ctx)
			}
			answer, err := call.answer(ctx, "", err)
			return deactivatedOf(answer), err
		}
	}
	return op
}

func (s *Service) setLicenseAPI() schema.Op {
	said := func(answer any) string {
		set, _ := answer.(LicenseAPI)
		if !set.On {
			return "The License API is off."
		}
		return fmt.Sprintf("The License API is on, for store %d.", set.StoreID)
	}
	return schema.Op{
		Name: "set_license_api", About: "Turn the interface for programs built for Lemon Squeezy's License API on or off; " +
			"they change only the host name.",
		Writes: true, Admin: true, Idempotent: true, Response: LicenseAPI{On: true, StoreID: 1},
		Example: "store license-api on --store-id 1\nstore license-api off",
		Print:   func(w io.Writer, answer any) { fmt.Fprintln(w, said(answer)) },
		Did:     func(answer any, _ schema.Money) string { return said(answer) },
		Leads:   func(any) string { return "/settings/license-keys" },
		Bind: schema.Writes2(s.db, func(f *schema.Form, is *bool, store **int64) {
			var on string
			f.Enum(&on, "on", "on or off", []string{"on", "off"}, schema.Required, schema.Folded, schema.Alias("true", "on"),
				schema.Alias("false", "off"),
				schema.Alias("yes", "on"), schema.Alias("no", "off"), schema.Positional("ON"), schema.Label("License API"),
				schema.Example("on"))
			f.IntPtr(store, "store_id",
				"the store number, which programs compare (default: 1)", schema.Range(1, 1<<53), schema.Label("Store number"),
				schema.Example(1))
			*is = on == "on"
		}, setLicenseAPI),
	}
}
