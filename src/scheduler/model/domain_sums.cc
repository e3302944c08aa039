// How much do the nodes of each domain have, together?
#include "scheduler/model/domain_sums.h"

namespace scheduler {

void DomainSums::widen() {
  const std::size_t domains = model_.hyper_nodes.tree().size();
  const auto fit = [&](Rows& rows, std::size_t length) {
    if (rows.size() < model_.dimensions.size()) rows.resize(model_.dimensions.size());
    for (auto& row : rows) row.resize(length);
  };
  for (Rows* rows : {&sums_.allocatable, &sums_.idle, &sums_.future}) fit(*rows, domains);
  for (Rows* rows : {&counted_.allocatable, &counted_.idle, &counted_.future}) fit(*rows, model_.nodes.size());
}

void DomainSums::follow(std::uint32_t node) {
  const NodeTable& nodes = model_.nodes;
  const bool known = nodes.known().has(node);
  const auto& around = model_.hyper_nodes.tree().domains_of(node);
  for (Dim d = 0; d < counted_.idle.size(); ++d) {
    const std::int64_t now[] = {known ? nodes.allocatable(d)[node] : 0, known ? nodes.idle(d)[node] : 0,
                                known ? nodes.future_idle(d, node) : 0};
    Rows* counted[] = {&counted_.allocatable, &counted_.idle, &counted_.future};
    Rows* sums[] = {&sums_.allocatable, &sums_.idle, &sums_.future};
    for (int i = 0; i < 3; ++i) {
      std::int64_t& before = (*counted[i])[d][node];
      if (before == now[i]) continue;
      for (const DomainId domain : around) (*sums[i])[d][domain.index] += now[i] - before;
      before = now[i];
    }
  }
}

void DomainSums::rebuild() {
  sums_ = {};
  counted_ = {};
  widen();
  for (std::uint32_t node = 0; node < model_.nodes.size(); ++node) follow(node);
  generation_ = model_.hyper_nodes.generation();
  touched_epoch_ = model_.touched_epoch();
  touched_position_ = model_.touched().size();
}

void DomainSums::catch_up() {
  const bool stale = generation_ != model_.hyper_nodes.generation() || touched_epoch_ != model_.touched_epoch();
  if (stale || sums_.idle.size() < model_.dimensions.size()) return rebuild();
  // A pod may name a node that has no Node object yet: a row without a domain below the root.
  if (counted_.idle[kCpu].size() < model_.nodes.size()) widen();
  const auto& touched = model_.touched();
  for (; touched_position_ < touched.size(); ++touched_position_) follow(touched[touched_position_]);
}

void DomainSums::open() {
  catch_up();
  opened_.idle = sums_.idle;
  opened_.future = sums_.future;
}

}  // namespace scheduler
