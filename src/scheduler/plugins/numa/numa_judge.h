// Would a node give a pod the CPUs that it pins? Judged once for all nodes that are alike in their CPUs.
//
// A state is what the answer depends on of a node: layout, policies and free CPUs. A node's state is looked up anew
// when something on the node, or about it, has changed; the answer for a state and a wish is remembered.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "scheduler/model/model.h"
#include "scheduler/plugins/numa/numa_assign.h"
#include "scheduler/search/fit.h"

namespace scheduler {

struct NumaAnswer {
  FitCode code = FitCode::kSuccess;
  std::string refusal;
  int numa_nodes = 0;  // that the pod would touch
};

class NumaJudge {
 public:
  // The part of a pod's requests that answers depend on, with the answers so far.
  struct NumaRequest {
    std::string policy;  // empty: none
    std::vector<ContainerAsk> asks;
    std::vector<std::unique_ptr<const NumaAnswer>> by_state;
    std::uint64_t epoch = 0;  // that the states are of
  };
  using NumaRequestPtr = std::shared_ptr<NumaRequest>;

  explicit NumaJudge(const Model& model) : model_(model) {}
  // Between cycles: what has piled up is dropped.
  void trim();
  NumaRequestPtr request_of(const Shape& shape);
  // Valid until trim().
  const NumaAnswer& answer(NumaRequest& request, NodeId node);
  // The CPUs that the pod gets there; those of the node's other pods are taken.
  std::optional<NumaResult> assign(const NumaRequest& request, NodeId node);
  // A pod on the node was given other CPUs than before, which the model does not tell.
  void cpus_changed(NodeId node) { of(node).is_current = false; }

 private:
  struct Layout {
    NumaNode facts;  // without the allocatable CPUs, which change as pods come and go
    CpuSet reserved;
  };
  static constexpr std::uint32_t kNoLayout = ~std::uint32_t{0};
  struct State {
    std::uint32_t layout = kNoLayout;  // kNoLayout: nothing is known of the node's CPUs
    bool publishes = false;            // names allocatable CPUs
    CpuSet free;
    bool operator==(const State&) const = default;
  };
  struct NodeEntry {
    bool is_current = false;
    std::uint32_t layout = kNoLayout;
    std::uint32_t state = 0;
  };

  NodeEntry& of(NodeId node);
  void follow();
  std::uint32_t state_of(NodeId node);
  State find_state(NodeId node, NodeEntry& entry);
  std::uint32_t layout_for(const NumaNode& facts, std::uint32_t likely);
  NumaAnswer judge(const NumaRequest& request, const State& state) const;

  const Model& model_;
  std::vector<NodeEntry> nodes_;
  std::uint64_t touched_epoch_ = 0;
  std::size_t touched_position_ = 0;
  std::vector<Layout> layouts_;
  std::vector<State> states_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> layout_by_digest_, state_by_digest_;
  std::uint64_t epoch_ = 1;  // grows when states come to mean others
  std::map<std::string, NumaRequestPtr, std::less<>> requests_;
};

}  // namespace scheduler
