// In which domain of a node label do the pods of a group lie, that share one?
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "scheduler/model/model.h"

namespace scheduler {

// The nodes of one value of a label.
struct LabelDomain {
  Symbol value;
  NodeSet nodes;
};

class LabelDomains {
 public:
  explicit LabelDomains(const Model& model) : model_(model) {}

  // The nodes that the pod may go to; null: all. They hold until the next call.
  const NodeSet* around(const Task& task);
  // The text "key=value" of the domain that the pods of the group lie in; empty: none, or none in particular.
  std::string name_of(const Task& task);
  // Pods of the group are on nodes.
  bool is_placed(const Job& job) { return find(job).is_placed; }
  // The domains that the group could be placed in, by value: the one it lies in, where it lies in one.
  std::vector<LabelDomain> open_to(const Job& job);
  // While this lasts, the pods of the group go nowhere else. The domain outlives it.
  class Confined {
   public:
    Confined(LabelDomains& domains, JobId job, const LabelDomain& domain)
        : domains_(domains), before_(std::exchange(domains.confined_, Confinement{job, &domain})) {}
    ~Confined() { domains_.confined_ = before_; }
    Confined(const Confined&) = delete;
    Confined& operator=(const Confined&) = delete;

   private:
    LabelDomains& domains_;
    const std::pair<JobId, const LabelDomain*> before_;
  };

 private:
  using Confinement = std::pair<JobId, const LabelDomain*>;
  // The place of the group, as of then.
  struct Finding {
    JobId job;
    std::uint64_t job_changes = 0, labels = 0;
    bool is_placed = false;
    LabelDomain domain;  // without a value: any, or none where its pods lie in several
  };

  const Finding& find(const Job& job);

  const Model& model_;
  Confinement confined_{};
  Finding last_;
};

}  // namespace scheduler
