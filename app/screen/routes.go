package screen

import "quartermaster/schema/page"

// routes makes the table of addresses.
func (s *Screens) routes() {
	staff := func(pattern string, get, post handle) {
		s.add(pattern, &route{get: get, post: post, area: page.Staff})
	}
	open := func(pattern string, get, post handle) {
		s.add(pattern, &route{get: get, post: post, area: page.Staff, open: true})
	}
	open("/favicon.ico", favicon, nil)
	open("/manifest.webmanifest", manifest, nil)
	open("/logo", logoPicture, nil)
	open("/login", loginPage, login)
	open("/logout", nil, logout(page.Staff, "/login"))
	open("/welcome/:token", welcomePage, accept)
	open("/forgot", forgotten, askForgotten)
	staff("/choices", choicesPage, nil)
	staff("/shown", nil, shownFile)
	staff("/do/:name", doPage, doPost)
	staff("/import/:table", importPage, importPost)
	s.pages = append(s.pages, s.Pages...)
	s.firstPage()
	s.pages = append(s.pages,
		s.accountPage(), s.auditPage(), s.exportPage(),
		s.tablesPage("/import", "Import", page.Member, importsPage), s.tablesPage("/export", "Export", "", exportsPage),
		s.usersPage(), s.keysPage(), s.hooksPage(), s.hookPage(), s.mailPage(), s.messagePage(), s.settingsPage(),
		s.mailSettingsPage(), s.mailTextPage(), s.backupPage(), s.doctorPage(),
		s.docsPage(), s.docPage())
	for _, p := range s.pages {
		shown := &route{get: s.page(p), area: p.Area, prints: p.Plain}
		if p.Marks {
			shown.post = shown.get
		}
		if p.Path == "/export/:table" {
			show := shown.get
			shown.get, shown.post = func(x *exchange) error { return x.exportOf(show) }, confirmExport
		}
		s.add(p.Path, shown)
	}
	s.outside()
}

// shared are the addresses of the pages that every service has, in the user's menu.
var shared = map[string]bool{
	"/users": true, "/keys": true, "/webhooks": true, "/audit": true, "/import": true, "/export": true,
	"/mail": true, "/settings": true, "/backup": true, "/doctor": true, "/account": true, "/docs": true,
}
