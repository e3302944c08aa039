// Is the model exactly as it was?
#include "scheduler/session/state_hash.h"

#include <string_view>

namespace scheduler {
namespace {

class Mixer {
 public:
  explicit Mixer(std::uint64_t hash) : hash_(hash) {}

  void add(std::uint64_t value) {
    hash_ = (hash_ ^ value) * 0x9e3779b97f4a7c15ull;
    hash_ ^= hash_ >> 29;
  }
  void add(std::string_view text) {
    add(text.size());
    for (const char c : text) add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
  }
  void add(const NodeCounts& counts) {
    for (const NodeCounts::Entry& entry : counts.entries()) {
      add(entry.node);
      add(static_cast<std::uint64_t>(entry.count));
    }
  }
  std::uint64_t hash() const { return hash_; }

 private:
  std::uint64_t hash_;
};

void add_selected(const PodAffinity& pods, Mixer& mixer) {
  for (std::uint32_t i = 0; i < pods.label_sets().capacity(); ++i) {
    for (const std::uint32_t matcher : pods.matchers_of(LabelSetId{i})) {
      mixer.add(pods.matcher(MatcherId{matcher}).pods);
      mixer.add(pods.matcher(MatcherId{matcher}).terminating);
    }
    for (const OwnedTerm* term : pods.terms_selecting(LabelSetId{i})) {
      mixer.add(term->required_apart);
      mixer.add(term->preferred);
    }
  }
}

void add_promises(const Model& model, TaskId task, Mixer& mixer) {
  if (const auto* volumes = model.volumes.promises_of(task)) {
    for (const VolumeChoice& one : *volumes) {
      mixer.add(one.claim);
      mixer.add(one.volume);
    }
  }
  if (const Annotations* devices = model.devices.granted(task)) {
    for (const auto& [key, value] : *devices) {
      mixer.add(key);
      mixer.add(value);
    }
  }
  if (const CpuSet* cpus = model.devices.cpus_of(task)) {
    for (const std::int32_t cpu : *cpus) mixer.add(static_cast<std::uint64_t>(cpu));
  }
  mixer.add(model.devices.lock_of(task));
  if (model.claims.empty()) return;
  for (const PlannedClaim& one : plan_of(model.claims, task)) {
    mixer.add(one.key);
    mixer.add(one.allocation.dump());
  }
}

}  // namespace

std::uint64_t state_hash(const Model& model) {
  Mixer mixer(model.hash());
  add_selected(model.pods, mixer);
  for (std::uint32_t i = 0; i < model.task_capacity(); ++i) {
    if (!model.task(TaskId{i}).in_use) continue;
    mixer.add(i);
    add_promises(model, TaskId{i}, mixer);
  }
  for (const DeviceName& device : model.claims.taken().all()) {
    mixer.add(device.driver);
    mixer.add(device.pool);
    mixer.add(device.device);
  }
  return mixer.hash();
}

}  // namespace scheduler
