// How a notebook or a TensorBoard stands, in a word and a sentence, from the objects that the API has of it. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/json/json.h"

namespace api {

inline constexpr const char* kStoppedAnnotation = "kubeflow-resource-stopped";

struct NotebookSeen {
  Json object;                    // the Notebook or Tensorboard; null: there is none
  std::vector<Json> pods;         // those of its labels
  std::string group_waits = {};   // why the PodGroup of its pod waits, in the words of `vcctl explain`
  std::vector<Json> events = {};  // those about it
};

struct NotebookState {
  enum class Phase : std::uint8_t { kAbsent, kStopping, kStopped, kWaiting, kFailed, kReady };
  Phase phase = Phase::kAbsent;
  std::string reason;  // why it waits or failed; empty where there is nothing to say
};

NotebookState notebook_state(const NotebookSeen& seen);
// "ready", "waits", ...
std::string_view phase_word(NotebookState::Phase phase);
// The pod that counts: the newest that is not being deleted, or null.
const Json* pod_that_counts(const std::vector<Json>& pods);

}  // namespace api
