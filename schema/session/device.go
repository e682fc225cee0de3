package session

import "strings"

// Device names a browser and its system in a few words, "Firefox on Linux", so that its user recognises it. An unknown
// program is shown by its own text.
func Device(agent string) string {
	browser, system := first(agent, browsers), first(agent, systems)
	switch {
	case browser != "" && system != "":
		return browser + " on " + system
	case browser != "":
		return browser
	case agent == "":
		return "unknown"
	}
	return cut(agent, 60)
}

type sign struct{ part, means string }

// The order matters: most browsers also name the ones they descend from.
var browsers = []sign{
	{"Edg/", "Edge"}, {"EdgA/", "Edge"}, {"OPR/", "Opera"}, {"SamsungBrowser/", "Samsung Internet"},
	{"Firefox/", "Firefox"}, {"FxiOS/", "Firefox"}, {"CriOS/", "Chrome"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"},
}

var systems = []sign{
	{"Android", "Android"}, {"iPhone", "iPhone"}, {"iPad", "iPad"}, {"CrOS", "ChromeOS"},
	{"Windows", "Windows"}, {"Mac OS X", "macOS"}, {"FreeBSD", "FreeBSD"}, {"Linux", "Linux"},
}

func first(agent string, signs []sign) string {
	for _, s := range signs {
		if strings.Contains(agent, s.part) {
			return s.means
		}
	}
	return ""
}
