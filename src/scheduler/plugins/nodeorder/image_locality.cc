// Scores of images, and their cache.
#include "scheduler/plugins/nodeorder/image_locality.h"

#include <algorithm>
#include <cmath>

#include "scheduler/model/nodes/score_kernels.h"

namespace scheduler {

namespace {

constexpr double kMiB = 1024.0 * 1024.0;
constexpr std::size_t kSetsMax = 256;  // more than that are looked up again

// An image of the pod that some node has.
struct Wanted {
  Symbol name;
  double bytes = 0;                    // as far as other nodes have it, too; as often as the pod names it
  std::uint32_t node = NodeId::kNone;  // that was looked at last and has it
};

// Each image once, by name. Pods may name one in thousands of containers.
std::vector<Wanted> wanted_of(const NodeTable& nodes, const Shape& shape) {
  std::vector<Symbol> images = shape.images;
  std::sort(images.begin(), images.end());
  const auto known = static_cast<double>(nodes.known_count());
  std::vector<Wanted> out;
  for (auto image = images.begin(); image != images.end();) {
    const auto end = std::upper_bound(image, images.end(), *image);
    if (const NodeTable::ImageState* state = nodes.image(*image)) {
      const double once = std::trunc(static_cast<double>(state->bytes) * (static_cast<double>(state->nodes) / known));
      out.push_back({*image, once * static_cast<double>(end - image)});
    }
    image = end;
  }
  return out;
}

// The bytes of those of the pod's images that the node has: between 23 MiB and 1000 MiB an image, as 0 to 100.
double score_on(const NodeTable& nodes, NodeId node, std::vector<Wanted>& wanted, std::int32_t image_places) {
  double sum = 0;
  for (const ImageOnNode& have : nodes[node].images) {
    const auto found = std::lower_bound(wanted.begin(), wanted.end(), have.name,
                                        [](const Wanted& one, Symbol name) { return one.name < name; });
    // Nodes may list an image more than once.
    if (found == wanted.end() || found->name != have.name || found->node == node.index) continue;
    found->node = node.index;
    sum += found->bytes;
  }
  const double low = 23 * kMiB, high = 1000 * kMiB * image_places;
  const double clamped = std::clamp(sum, low, std::max(low, high));
  return high <= low ? 0 : std::trunc(100 * (clamped - low) / (high - low));
}

class ImageScorer final : public NodeScorer {
 public:
  ImageScorer(std::shared_ptr<const ImageLocality::Scores> scores, double weight)
      : scores_(std::move(scores)), weight_(weight) {}
  Reach reach() const override { return Reach::kStatic; }
  double weight() const override { return weight_; }
  double score(std::uint32_t node) override { return node < scores_->size() ? (*scores_)[node] : 0; }
  void add_scores(const NodeSet& candidates, std::vector<double>& totals) override {
    const std::size_t rows = std::min(scores_->size(), totals.size());
    if (candidates.count() * 8 < rows) return NodeScorer::add_scores(candidates, totals);
    add_weighted(scores_->data(), weight_, totals.data(), rows);
  }

 private:
  const std::shared_ptr<const ImageLocality::Scores> scores_;
  const double weight_;
};

}  // namespace

std::unique_ptr<NodeScorer> ImageLocality::scorer_for(const Model& model, const Shape& shape, double weight) {
  const bool any = std::any_of(shape.images.begin(), shape.images.end(),
                               [&](Symbol image) { return model.nodes.image(image) != nullptr; });
  if (!any) return nullptr;
  std::shared_ptr<const Scores> scores = scores_of(model, shape);
  if (scores == nullptr) return nullptr;
  return std::make_unique<ImageScorer>(std::move(scores), weight);
}

std::shared_ptr<const ImageLocality::Scores> ImageLocality::scores_of(const Model& model, const Shape& shape) {
  const NodeTable& nodes = model.nodes;
  if (generation_ != nodes.static_generation() || known_.size() >= kSetsMax) {
    known_.clear();
    generation_ = nodes.static_generation();
  }
  const auto [slot, added] = known_.try_emplace({shape.images, shape.image_places});
  if (added) {
    Scores scores(nodes.size());
    std::vector<Wanted> wanted = wanted_of(nodes, shape);
    for (std::uint32_t n = 0; n < scores.size(); ++n)
      scores[n] = score_on(nodes, NodeId{n}, wanted, shape.image_places);
    const bool any = std::any_of(scores.begin(), scores.end(), [](double score) { return score != 0; });
    if (any) slot->second = std::make_shared<const Scores>(std::move(scores));
  }
  return slot->second;
}

}  // namespace scheduler
