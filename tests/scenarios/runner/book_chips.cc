// Which chips that MindCluster reports does the specification (5.16.6, and "vnpu" of docs/compat) give to a pod?
#include <algorithm>
#include <cstdlib>

#include "book_npus.h"

namespace scenario::book {
namespace {

constexpr int kCpusOfChip = 7;  // 5.16.1

// Image units: some of a chip's are shared by those who do not say; or all of them, or none.
enum class Images { kShared, kAll, kNone };

struct Template {
  const char* name;
  int cores, cpus;
  Images images;
};
constexpr Template kTemplates[] = {
    {"vir01", 1, 1, Images::kShared},      {"vir02", 2, 2, Images::kShared},    {"vir02_1c", 2, 1, Images::kShared},
    {"vir04", 4, 4, Images::kShared},      {"vir04_3c", 4, 3, Images::kShared}, {"vir04_3c_ndvpp", 4, 3, Images::kNone},
    {"vir04_4c_dvpp", 4, 4, Images::kAll},
};

const Template* find_template(const std::string& name) {
  const auto* found =
      std::find_if(std::begin(kTemplates), std::end(kTemplates), [&](const Template& one) { return name == one.name; });
  return found == std::end(kTemplates) ? nullptr : found;
}

struct Chip {
  int id = 0, cores = 0, cpus = kCpusOfChip;  // what is free
  bool is_whole = true, has_sharers = false, has_all = false;

  bool fits(const Template& one) const {
    const bool images_free =
        one.images == Images::kNone || (one.images == Images::kAll ? !has_sharers && !has_all : !has_all);
    return cores >= one.cores && cpus >= one.cpus && images_free;
  }
};

// "Ascend310P-8": 8; 0 for what is no such label.
int cores_of_chip(const Node& node) {
  const std::vector<std::string> parts = split(node.label("servertype"), '-');
  return parts.size() >= 2 && parts[0] == "Ascend310P" ? std::atoi(parts[1].c_str()) : 0;
}

const Line* report_of(const Objects& objects, const Node& node, Line& found) {
  if (!objects.cluster_reports_count) {
    const auto one = objects.node_reports.find(node.name);
    return one == objects.node_reports.end() ? nullptr : &one->second;
  }
  for (const auto& [name, report] : objects.cluster_reports) {
    for (const Line& item : items_of(report.get("nodes"))) {
      if (item.name == node.name) return found = item, &found;
    }
  }
  return nullptr;
}

std::vector<Chip> chips_of(const Objects& objects, const Node& node, const std::vector<const Pod*>& others) {
  Line words;
  const Line* report = report_of(objects, node, words);
  if (report == nullptr) return {};
  std::set<int> ids;
  for (const std::string& id : split(report->get("chips"), ',')) ids.insert(std::atoi(id.c_str()));
  for (const Pod* other : others) ids.insert(other->given.chips.chips.begin(), other->given.chips.chips.end());
  for (const std::string& id : split(report->get("unhealthy"), ',')) ids.erase(std::atoi(id.c_str()));
  std::vector<Chip> out;
  for (const int id : ids) {
    Chip chip{.id = id, .cores = cores_of_chip(node)};
    for (const Pod* other : others) {
      if (!other->given.chips.chips.contains(id)) continue;
      chip.is_whole = false;
      const Template* cut = find_template(other->given.chips.cut);
      chip.cores = cut == nullptr ? 0 : chip.cores - cut->cores;
      chip.cpus = cut == nullptr ? 0 : chip.cpus - cut->cpus;
      chip.has_sharers |= cut != nullptr && cut->images == Images::kShared;
      chip.has_all |= cut != nullptr && cut->images == Images::kAll;
    }
    out.push_back(chip);
  }
  return out;
}

double cores_asked(const Pod& pod) { return number_of(pod.words, "npu", 0); }

const Template* template_for(const Pod& pod) {
  const bool high = pod.words.get("level", "low") == "high";
  const std::string images = pod.words.get("dvpp", "null");
  switch (static_cast<int>(cores_asked(pod))) {
    case 1: return find_template("vir01");
    case 2: return find_template(high ? "vir02" : "vir02_1c");
    case 4:
      if (images != "null") return find_template(images == "yes" ? "vir04_4c_dvpp" : "vir04_3c_ndvpp");
      return find_template(high ? "vir04" : "vir04_3c");
    default: return nullptr;
  }
}

// The chip with least free resources among those that fit.
const Chip* chip_for(const std::vector<Chip>& chips, const Template& one) {
  const Chip* out = nullptr;
  for (const Chip& chip : chips) {
    if (!chip.fits(one)) continue;
    if (out == nullptr || std::pair(chip.cores, chip.cpus) < std::pair(out->cores, out->cpus)) out = &chip;
  }
  return out;
}

bool choose_whole(const std::vector<Chip>& chips, std::size_t count, Given& given) {
  for (const Chip& chip : chips) {
    if (chip.is_whole && given.chips.chips.size() < count) given.chips.chips.insert(chip.id);
  }
  return given.chips.chips.size() == count;
}

}  // namespace

bool wants_chips(const Pod& pod) { return cores_asked(pod) > 0; }

bool choose_chips(const Objects& objects, const Node& node, const Pod& pod, const std::vector<const Pod*>& others,
                  Given& given, bool& downgraded) {
  const int cores = static_cast<int>(cores_asked(pod)), each = cores_of_chip(node);
  if (cores == 0) return true;
  Line words;
  const Line* report = report_of(objects, node, words);
  if (report == nullptr || each == 0 || report->get("switch") == "PreSeparate") return false;
  const std::vector<Chip> chips = chips_of(objects, node, others);
  if (cores % each == 0) return choose_whole(chips, static_cast<std::size_t>(cores / each), given);
  const Template* cut = template_for(pod);
  if (cut == nullptr) return false;
  const Chip* chip = chip_for(chips, *cut);
  const bool has_less = std::string_view(cut->name) == "vir02" || std::string_view(cut->name) == "vir04";
  if (chip == nullptr && has_less) {
    cut = find_template(cut->cores == 2 ? "vir02_1c" : "vir04_3c");
    chip = chip_for(chips, *cut);
    downgraded = true;
  }
  const bool other_in_flight = std::any_of(others.begin(), others.end(), [&](const Pod* other) {
    return !other->has_started && !other->given.chips.cut.empty() && other->given.chips.cut != cut->name;
  });
  if (chip == nullptr || other_in_flight) return false;
  given.chips = {{chip->id}, cut->name};
  return true;
}

std::pair<int, int> free_of_chips(const Objects& objects, const Node& node, const std::vector<const Pod*>& others) {
  std::pair<int, int> out;
  for (const Chip& chip : chips_of(objects, node, others)) out.first += chip.cores, out.second += chip.cpus;
  return out;
}

}  // namespace scenario::book
