// The rules of selectors of nodes and of labels, in affinities, spread constraints and policies.
#pragma once

#include <string>

#include "api/json/json.h"
#include "api/schema/field_errors.h"

namespace api {

// {matchExpressions, matchFields}: one term of several.
void check_node_term(const Json& term, const std::string& path, FieldErrors& errors);
// {nodeSelectorTerms}
void check_node_selector(const Json& selector, const std::string& path, FieldErrors& errors);
// {matchLabels, matchExpressions}; null has no problems.
void check_label_selector(const Json& selector, const std::string& path, FieldErrors& errors);

}  // namespace api
