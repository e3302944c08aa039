// Reading before writing, and the book.
#include "colocation/machine/group_writer.h"

#include <algorithm>
#include <set>

#include "base/format.h"
#include "base/trim.h"
#include "colocation/files/host_files.h"
#include "rt/files/bounded_files.h"
#include "rt/files/files.h"

namespace colocation {

using api::Json;

namespace {

constexpr std::size_t kBookBytesMax = std::size_t{16} << 20;

std::string trimmed(const std::string& text) { return std::string(base::trim(text)); }

}  // namespace

bool is_pod_file(const GroupTree& tree, const std::string& file) {
  if (file.find("/../") != std::string::npos) return false;
  const std::size_t slash = file.rfind('/');
  if (slash == std::string::npos) return false;
  const std::string folder = file.substr(0, slash);
  const auto below = [&folder](const std::string& top) { return folder == top || folder.starts_with(top + "/"); };
  for (const char* controller : {"cpu", "memory"}) {
    const std::string pods = group_folder(tree, controller, pods_path(tree));
    if (folder == group_folder(tree, "cpu", class_path(tree, QosClass::kBestEffort)) &&
        tree.driver != GroupDriver::kOwn)
      return true;
    // All but the group of all pods and those of the two classes.
    if (!below(pods) || folder == pods) continue;
    for (const QosClass qos : {QosClass::kBurstable, QosClass::kBestEffort})
      if (tree.driver != GroupDriver::kOwn && folder == group_folder(tree, controller, class_path(tree, qos)))
        return false;
    return folder.find("/pod", pods.size()) != std::string::npos ||
           folder.find("-pod", pods.size()) != std::string::npos;
  }
  return false;
}

GroupWriter::GroupWriter(GroupTree tree, std::string book) : tree_(std::move(tree)), book_path_(std::move(book)) {
  trouble_ = load();
}

WriteReport GroupWriter::apply(const std::vector<GroupValue>& values, base::Time now, bool all_known) {
  WriteReport report;
  std::set<std::string> desired;
  for (const GroupValue& value : values) {
    const std::string file = group_folder(tree_, value.controller, value.path) + "/" + value.file;
    desired.insert(file);
    const auto present = read_host_file(file);
    if (present.ok()) record(value, file, trimmed(*present));
  }
  // The value of before is on the disk before the file changes.
  if (changed_) {
    const base::Status saved = save();
    trouble_ = saved.ok() ? std::string() : saved.error().message;
    changed_ = !saved.ok();
  }
  std::vector<std::pair<std::string, Kept>> gone;
  if (all_known)
    for (const auto& [file, kept] : book_)
      if (!desired.contains(file)) gone.emplace_back(file, kept);
  for (const auto& [file, kept] : gone) take_back(file, kept, now, report);
  for (const GroupValue& value : values) set(value, now, report);
  if (changed_) {
    const base::Status saved = save();
    trouble_ = saved.ok() ? std::string() : saved.error().message;
    changed_ = !saved.ok();
  }
  report.trouble = trouble_;
  return report;
}

// Keeps what others last wrote: that is what the file gets back.
void GroupWriter::record(const GroupValue& value, const std::string& file, const std::string& present) {
  const auto found = book_.find(file);
  if (found != book_.end() && has_value(value.file, present, found->second.value)) {
    if (found->second.value == value.value) return;
    found->second.value = value.value;
    changed_ = true;
    return;
  }
  if (found == book_.end() && has_value(value.file, present, value.value)) return;  // as it was without us
  Kept kept{std::string(feature_name(value.feature)), present, value.value, {}, {}};
  if (!value.companion.empty()) {
    kept.companion_file = group_folder(tree_, value.controller, value.path) + "/" + value.companion;
    // A value of our own is not what the group had.
    const auto own = book_.find(kept.companion_file);
    const auto text = read_host_file(kept.companion_file);
    if (text.ok()) kept.companion_before = own != book_.end() ? own->second.before : trimmed(*text);
  }
  book_[file] = std::move(kept);
  changed_ = true;
}

void GroupWriter::set(const GroupValue& value, base::Time now, WriteReport& report) {
  const std::string file = group_folder(tree_, value.controller, value.path) + "/" + value.file;
  JournalEntry entry{now, std::string(feature_name(value.feature)), file, {}, value.value, {}};
  if (!is_pod_file(tree_, file)) {
    entry.error = "the file is not of a pod's group";
    report.entries.push_back(std::move(entry));
    ++report.failed;
    return;
  }
  const auto present = read_host_file(file);
  if (!present.ok()) {
    // A group that is gone, or a kernel without the file.
    if (present.error().code == base::Code::kNotFound) return;
    entry.error = present.error().message;
    report.entries.push_back(std::move(entry));
    ++report.failed;
    return;
  }
  if (has_value(value.file, *present, value.value)) return;
  entry.before = trimmed(*present);
  const base::Status written = write_host_file(file, value.value);
  if (!written.ok() && written.error().code == base::Code::kNotFound) return;
  if (!written.ok()) entry.error = written.error().message, ++report.failed;
  report.entries.push_back(std::move(entry));
}

void GroupWriter::take_back(const std::string& file, const Kept& kept, base::Time now, WriteReport& report) {
  const auto present = read_host_file(file);
  const std::string name = file.substr(file.rfind('/') + 1);
  const bool gone = !present.ok() && present.error().code == base::Code::kNotFound;
  const bool ours = present.ok() && has_value(name, *present, kept.value);
  if (!is_pod_file(tree_, file) || gone || (present.ok() && !ours)) {
    book_.erase(file);
    changed_ = true;
    return;
  }
  JournalEntry entry{now, kept.feature, file, kept.value, kept.before, {}};
  base::Status written = present.ok() ? write_host_file(file, kept.before) : base::Status(present.error());
  if (written.ok() && !kept.companion_file.empty() && !kept.companion_before.empty() && kept.companion_before != "0")
    written = write_host_file(kept.companion_file, kept.companion_before);
  if (written.ok()) {
    book_.erase(file);
    changed_ = true;
  } else {
    entry.error = written.error().message;
    ++report.failed;
  }
  report.entries.push_back(std::move(entry));
}

std::string GroupWriter::load() {
  if (book_path_.empty()) return {};
  const auto text = rt::read_bounded_file(book_path_, kBookBytesMax, {});
  if (!text.ok()) return text.error().code == base::Code::kNotFound ? std::string() : text.error().message;
  const auto read = api::parse_json(*text);
  if (!read.ok() || !read->is_object())
    return base::format("{}: {}", book_path_, read.ok() ? "no object" : read.error().message);
  for (const Json::Member& member : read->members()) {
    const std::string file(member.name());
    const Json& one = member.value;
    if (!is_pod_file(tree_, file)) continue;
    const std::string companion = one["companion"].str();
    book_[file] = {one["feature"].str(), one["before"].str(), one["value"].str(),
                   is_pod_file(tree_, companion) ? companion : std::string(), one["companionBefore"].str()};
  }
  return {};
}

base::Status GroupWriter::save() {
  if (book_path_.empty()) return {};
  Json all = Json::object();
  for (const auto& [file, kept] : book_)
    all.set(file, Json::object({{"feature", kept.feature},
                                {"before", kept.before},
                                {"value", kept.value},
                                {"companion", kept.companion_file},
                                {"companionBefore", kept.companion_before}}));
  return rt::write_file(book_path_, all.dump(), 0600);
}

}  // namespace colocation
