package db

// adopt does nothing: a file has the rights of its folder.
func adopt(string, string) error { return nil }
