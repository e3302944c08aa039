// A plugin's judgements of nodes for one class of pods: prepared once for the class, then asked node by node or for
// whole columns.
//
// Evaluators are made by the Predicate and NodeOrder points and live while the class is being placed. They read the
// live model; what they keep from it must only depend on facts that NodeTable::static_generation() guards.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/model/nodes/node_set.h"
#include "scheduler/search/fit.h"

namespace scheduler {

// How far the answer for a node reaches: who may change it.
enum class Reach : std::uint8_t {
  kStatic,   // only facts of the node
  kNode,     // also what runs on the node
  kCluster,  // also what happens on other nodes
};

enum class Strictness : std::uint8_t {
  kPlace,  // any refusal removes the node
  kEvict,  // a plain "unschedulable" stays: evicting might cure it
};

class NodeFilter {
 public:
  virtual ~NodeFilter() = default;
  virtual Reach reach() const = 0;
  // Whether it may be asked in later cycles too, for other pods of the class: not when it keeps the pod or the time.
  virtual bool lasts() const { return true; }
  // Removes from `nodes` those that do not take the pod; counts why where `errors` is not null.
  virtual void narrow(NodeSet& nodes, Strictness strictness, FitErrors* errors) = 0;
  // Judges one node, with kPlace.
  virtual bool fits(std::uint32_t node) = 0;
};

// A division of the nodes: all of one group score the same with the scorer that made it.
struct NodeGroups {
  std::vector<std::uint32_t> of_node;  // by node: its group
  std::uint32_t count = 0;
};

class NodeScorer {
 public:
  // The use of raw values once those of all candidates are known.
  enum class Normalise : std::uint8_t {
    kNone,        // score() is final
    kMax,         // 100 * raw / max
    kReverseMax,  // 100 - 100 * raw / max, and 100 when max is 0
    kMinMax,      // 100 * (raw - min) / (max - min), and 0 when all are equal
    kWhole,       // the scorer adds final scores itself, seeing all candidates
  };

  virtual ~NodeScorer() = default;
  virtual Reach reach() const = 0;
  virtual bool lasts() const { return true; }  // as NodeFilter::lasts()
  virtual Normalise normalise() const { return Normalise::kNone; }
  virtual double weight() const { return 1; }
  // kNone: of one node, before the weight.
  virtual double score(std::uint32_t) { return 0; }
  // kMax, kReverseMax, kMinMax: of one node.
  virtual std::int64_t raw(std::uint32_t) { return 0; }
  // kWhole: where the score depends on nothing but the node's group, whatever the candidates are. Holds as long as
  // NodeTable::static_generation().
  virtual const NodeGroups* groups() { return nullptr; }
  // By group, weighted, as of now.
  virtual void score_groups(std::vector<double>&) {}
  // kNone, kWhole: adds weighted scores of (at least) the candidates.
  virtual void add_scores(const NodeSet& candidates, std::vector<double>& totals) {
    candidates.for_each([&](std::uint32_t n) { totals[n] += weight() * score(n); });
  }
};

}  // namespace scheduler
