package maintenance

// ParseOrderStatus parses a state of a work order in any of its spellings; any other text is 422.
func ParseOrderStatus(s string) (string, error) {
	return choice("status", s, workOrderMoves.States(), alsoStatus)
}

// ParseAssetStatus parses a state of an asset in any of its spellings; any other text is 422.
func ParseAssetStatus(s string) (string, error) {
	return choice("status", s, assetStatuses, alsoAssetStatus)
}
