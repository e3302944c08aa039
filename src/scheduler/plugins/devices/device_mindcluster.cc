// MindCluster vNPU: Ascend 310P chips, given out whole or cut by templates when a pod starts.
#include <algorithm>
#include <map>

#include "base/format.h"
#include "scheduler/plugins/devices/device_family.h"
#include "scheduler/plugins/devices/mindcluster_reports.h"

namespace scheduler {
namespace {

constexpr std::string_view kCores = "huawei.com/npu-core";  // resource of pods and nodes, and the pods' annotation
constexpr std::int64_t kCpusOfChip = 7;
constexpr std::int64_t kCoresMax = 1 << 16;

// The image and video units (DVPP) that a piece of a chip has.
enum class Video : std::uint8_t { kShare, kAll, kNone };

struct Piece {
  std::string_view name;
  std::int64_t cores, cpus;
  Video video;
};

constexpr Piece kPieces[] = {
    {"vir01", 1, 1, Video::kShare},       {"vir02", 2, 2, Video::kShare},    {"vir02_1c", 2, 1, Video::kShare},
    {"vir04", 4, 4, Video::kShare},       {"vir04_3c", 4, 3, Video::kShare}, {"vir04_3c_ndvpp", 4, 3, Video::kNone},
    {"vir04_4c_dvpp", 4, 4, Video::kAll},
};

const Piece* piece_named(std::string_view name) {
  for (const Piece& piece : kPieces) {
    if (piece.name == name) return &piece;
  }
  return nullptr;
}

struct Wanted {
  std::int64_t chips = 0;  // whole ones
  const Piece* piece = nullptr;
  const Piece* reduced = nullptr;  // with fewer CPUs, where the chips are short of them
};

struct Chip {
  std::int64_t cores = 0, cpus = kCpusOfChip;  // free
  int shares_video = 0, takes_all_video = 0;   // pieces
  bool untouched = true;

  bool fits(const Piece& piece) const {
    if (cores < piece.cores || cpus < piece.cpus) return false;
    if (piece.video == Video::kAll) return shares_video + takes_all_video == 0;
    return piece.video == Video::kNone || takes_all_video == 0;
  }
  // Nothing: the whole chip.
  void take(const Piece* piece) {
    untouched = false;
    cores = piece == nullptr ? 0 : std::max<std::int64_t>(cores - piece->cores, 0);
    cpus = piece == nullptr ? 0 : std::max<std::int64_t>(cpus - piece->cpus, 0);
    if (piece == nullptr) return;
    shares_video += piece->video == Video::kShare;
    takes_all_video += piece->video == Video::kAll;
  }
};
using Chips = std::map<std::int64_t, Chip>;  // by id

std::int64_t cores_asked(const Shape& shape) {
  std::int64_t out = 0;
  for (const ContainerAsk& ask : shape.asks) {
    auto found = ask.devices.find(kCores);
    if (!ask.init && found != ask.devices.end()) out += std::clamp<std::int64_t>(found->second, 0, kCoresMax);
  }
  return std::min(out, kCoresMax);
}

// The cores of the label servertype, "Ascend310P-8" or "Ascend310P-8-dual"; 0 when it says something else.
std::int64_t cores_of_chip(std::string_view server_type) {
  const auto parts = split_text(server_type, '-');
  if (parts.size() < 2 || parts.size() > 3 || parts[0] != "Ascend310P") return 0;
  if (parts.size() == 3 && parts[2] != "dual") return 0;
  return std::min(amount_in(parts[1]).value_or(0), kCoresMax);
}

// Empty when a chip has no such piece.
std::optional<Wanted> wanted_by(const Shape& shape, std::int64_t cores_of_chip) {
  const std::int64_t cores = cores_asked(shape);
  if (cores % cores_of_chip == 0) return Wanted{.chips = cores / cores_of_chip};
  const auto preference = [&](std::string_view key) { return value_in(shape.device_preferences, key); };
  const std::string_view video = preference("vnpu-dvpp");
  const bool any_video = video.empty() || video == "null", high = preference("vnpu-level") == "high";
  const auto either = [&](std::string_view full, std::string_view reduced) {
    return high ? Wanted{.piece = piece_named(full), .reduced = piece_named(reduced)}
                : Wanted{.piece = piece_named(reduced)};
  };
  if (cores == 1) return Wanted{.piece = piece_named("vir01")};
  if (cores == 2) return either("vir02", "vir02_1c");
  if (cores == 4 && any_video) return either("vir04", "vir04_3c");
  if (cores == 4 && video == "no") return Wanted{.piece = piece_named("vir04_3c_ndvpp")};
  if (cores == 4 && video == "yes") return Wanted{.piece = piece_named("vir04_4c_dvpp")};
  return std::nullopt;
}

class MindClusterVnpu final : public DeviceFamily {
 public:
  MindClusterVnpu(const Model& model, bool cluster_wide) : model_(model), reports_(cluster_wide) {}
  bool refresh() override {
    reports_.refresh(model_.devices);
    return false;
  }
  std::string_view lock_name() const override { return ""; }

  bool wants(const Shape& shape) const override {
    return value_in(shape.device_preferences, "ring-controller.atlas") == "ascend-310P" && cores_asked(shape) > 0;
  }
  bool is_on(NodeId node) const override {
    const auto offered = api::Quantity::from_json(model_.devices.node(node)["allocatable"][kCores]);
    return offered && !offered->is_zero();
  }

  std::optional<DeviceTake> take(const Task& task, NodeId node, base::Time now, DeviceMisfit& misfit) const override {
    misfit.code = FitCode::kError;
    DeviceTake out;
    std::string chosen;
    misfit.message = choose(task, node, chosen, out.reduced);
    if (!misfit.message.empty()) return std::nullopt;
    out.annotations.insert_or_assign(std::string(kCores), std::move(chosen));
    out.annotations.insert_or_assign("predicate-time", std::to_string(now.ns));
    return out;
  }

  bool scores_together() const override { return true; }
  // The node with the least left goes first; one that can give all that the pod would like is preferred to those that
  // can only give less.
  void score_together(const Task& task, const NodeSet& candidates, double weight,
                      std::vector<double>& totals) const override {
    struct Place {
      std::int64_t cores, cpus;
      std::uint32_t node;
      bool reduced;
    };
    std::vector<Place> places;
    bool on_all = true;
    candidates.for_each([&](std::uint32_t n) {
      std::string chosen;
      Place place{0, 0, n, false};
      on_all = on_all && is_on(NodeId{n}) && choose(task, NodeId{n}, chosen, place.reduced).empty();
      if (!on_all) return;
      for (const auto& [id, chip] : chips_of(NodeId{n})) place.cores += chip.cores, place.cpus += chip.cpus;
      places.push_back(place);
    });
    if (!on_all || places.empty()) return;
    std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
      return a.cores != b.cores ? a.cores < b.cores : a.cpus < b.cpus;
    });
    if (std::none_of(places.begin(), places.end(), [](const Place& place) { return place.reduced; })) {
      totals[places.front().node] += 8 * weight;
      return;
    }
    for (const Place& place : places) {
      totals[place.node] += (place.reduced ? 8 : 16) * weight;
      if (!place.reduced) return;
    }
  }

 private:
  std::int64_t cores_of_chip_on(NodeId node) const {
    return cores_of_chip(model_.devices.node(node)["labels"]["servertype"].as_string());
  }

  // The remaining parts of the healthy chips: those that the node reports, and those that its pods name. A node has no
  // more of them than it offers cores for, whatever a pod says.
  Chips chips_of(NodeId node) const {
    Chips out;
    const ChipReport* report = reports_.find(model_.nodes[node].name);
    if (report == nullptr) return out;
    const std::int64_t cores = cores_of_chip_on(node);
    for (const std::int64_t id : report->healthy) out[id].cores = cores;
    const auto offered = api::Quantity::from_json(model_.devices.node(node)["allocatable"][kCores]);
    const std::int64_t count = offered && cores > 0 ? std::min(offered->value() / cores, kCoresMax) : 0;
    for_each_holder(model_, node, [&](const Task& holder, const Annotations& devices) {
      if (!wants(model_.shape_of(holder))) return;
      for (const std::string_view one : split_text(value_in(devices, kCores), ',')) {
        const std::size_t dash = std::min(one.find('-'), one.size());
        const auto id = amount_in(one.substr(0, dash));
        if (!id || (*id >= count && !report->healthy.contains(*id))) continue;
        Chip& chip = out.try_emplace(*id, Chip{.cores = cores}).first->second;
        chip.take(dash == one.size() ? nullptr : piece_named(one.substr(dash + 1)));
      }
    });
    std::erase_if(out, [&](const auto& one) { return report->unhealthy.contains(one.first); });
    return out;
  }

  // A node cuts its chips by one template at a time: pods that are on their way to it with another one must have
  // started.
  bool cuts_otherwise(NodeId node, const Piece& piece) const {
    bool out = false;
    for_each_holder(model_, node, [&](const Task& holder, const Annotations& devices) {
      const bool under_way = holder.status == TaskStatus::kAllocated || holder.status == TaskStatus::kBinding ||
                             holder.status == TaskStatus::kBound;
      const std::string_view value = value_in(devices, kCores);
      const std::size_t dash = value.find('-');
      if (!under_way || dash == value.npos) return;
      out |= value.substr(dash + 1) != piece.name;
    });
    return out;
  }

  // Why the node has nothing for the task; empty when `chosen` is what it gets.
  std::string choose(const Task& task, NodeId node, std::string& chosen, bool& reduced) const {
    const ChipReport* report = reports_.find(model_.nodes[node].name);
    if (report == nullptr || !report->has_chips) return "no report of Ascend310P chips";
    const std::int64_t cores = cores_of_chip_on(node);
    if (cores == 0) return "no label servertype of the form Ascend310P-8";
    if (report->separated) return "node is pre-separated";
    const Shape& shape = model_.shape_of(task);
    const std::optional<Wanted> wanted = wanted_by(shape, cores);
    if (!wanted)
      return base::format("no template of {} NPU cores for vnpu-level and vnpu-dvpp of the pod", cores_asked(shape));
    const Chips chips = chips_of(node);
    if (wanted->piece == nullptr) return choose_whole(chips, wanted->chips, chosen);
    const Piece* piece = wanted->piece;
    auto best = tightest(chips, *piece);
    if (best == chips.end() && wanted->reduced != nullptr) {
      reduced = true;
      piece = wanted->reduced;
      best = tightest(chips, *piece);
    }
    if (best == chips.end()) return base::format("no Ascend310P chip with room for {}", piece->name);
    if (cuts_otherwise(node, *piece))
      return base::format("chips are being cut by another template than {}", piece->name);
    chosen = base::format("{}-{}", best->first, piece->name);
    return {};
  }

  static std::string choose_whole(const Chips& chips, std::int64_t count, std::string& chosen) {
    for (const auto& [id, chip] : chips) {
      if (!chip.untouched || count == 0) continue;
      chosen += (chosen.empty() ? "" : ",") + std::to_string(id);
      --count;
    }
    return count == 0 ? "" : "not enough whole Ascend310P chips";
  }

  // The chip with the least left that the piece fits.
  static Chips::const_iterator tightest(const Chips& chips, const Piece& piece) {
    auto best = chips.end();
    for (auto one = chips.begin(); one != chips.end(); ++one) {
      if (!one->second.fits(piece)) continue;
      const auto left = [](const Chip& chip) { return std::pair{chip.cores, chip.cpus}; };
      if (best == chips.end() || left(one->second) < left(best->second)) best = one;
    }
    return best;
  }

  const Model& model_;
  ChipReports reports_;
};

}  // namespace

std::unique_ptr<DeviceFamily> make_mindcluster_vnpu(const Model& model, bool cluster_wide) {
  return std::make_unique<MindClusterVnpu>(model, cluster_wide);
}

}  // namespace scheduler
