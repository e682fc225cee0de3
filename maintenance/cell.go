package maintenance

// cell is a text that may be unset as a cell.
func cell(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// cellOf is any other value that may be unset as a cell.
func cellOf[T interface{ String() string }](v *T) string {
	if v == nil {
		return ""
	}
	return (*v).String()
}
