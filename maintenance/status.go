package maintenance

import "slices"

// OrderStatuses lists the states of a work order.
func OrderStatuses() []string { return workOrderMoves.States() }

// ParseOrderStatus reads a state of a work order in any of its spellings; what is none
// is 422.
func ParseOrderStatus(s string) (string, error) {
	return choice("status", s, workOrderMoves.States(), alsoStatus)
}

// AssetStatuses lists the states of an asset.
func AssetStatuses() []string { return slices.Clone(assetStatuses) }

// ParseAssetStatus reads a state of an asset in any of its spellings; what is none is
// 422.
func ParseAssetStatus(s string) (string, error) {
	return choice("status", s, assetStatuses, alsoAssetStatus)
}
