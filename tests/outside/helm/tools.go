//go:build tools

// Package tools pins the stock Helm.
package tools

import _ "helm.sh/helm/v3/cmd/helm"
