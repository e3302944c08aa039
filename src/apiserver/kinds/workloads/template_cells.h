// The columns of kinds that have a template of pods: containers, images and the selector stand at their end.
#pragma once

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "api/json/json.h"
#include "api/kinds.h"
#include "base/time.h"

namespace apiserver {

// `columns`, and behind them the first `added` of the common ones.
template <std::size_t added = 3, std::size_t own>
constexpr std::array<api::Column, own + added> with_template_columns(const api::Column (&columns)[own]) {
  constexpr api::Column kCommon[] = {
      {"Containers", "", "string", 1}, {"Images", "", "string", 1}, {"Selector", "", "string", 1}};
  std::array<api::Column, own + added> all;
  for (std::size_t i = 0; i < own; ++i) all[i] = columns[i];
  for (std::size_t i = 0; i < added; ++i) all[own + i] = kCommon[i];
  return all;
}

// Names and images of the containers of a template, each as one list.
std::pair<api::Json, api::Json> containers_of(const api::Json& pod_template);
api::Json selector_cell(const api::Json& selector);
// The cells of ReplicaSets and ReplicationControllers.
std::vector<api::Json> replica_counts(const api::Json& object, base::Time now);

}  // namespace apiserver
