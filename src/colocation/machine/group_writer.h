// Writes what groups are to have, keeps a journal of it, and takes back what is not wished any more. The value that a
// file had before is kept in a book on the disk, so that the next start can take it back, too.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "base/time.h"
#include "colocation/files/group_tree.h"
#include "colocation/policy/group_values.h"

namespace colocation {

struct JournalEntry {
  base::Time time;
  std::string feature;  // on whose behalf
  std::string file;     // whole path
  std::string before, after;
  std::string error;  // empty: written
};

struct WriteReport {
  std::vector<JournalEntry> entries;  // new ones
  std::string trouble;                // of the book; empty: none
  std::size_t failed = 0;
};

// One user at a time; each call blocks for as long as its files take.
class GroupWriter {
 public:
  // `book`: a file; empty: nothing is kept.
  GroupWriter(GroupTree tree, std::string book);

  // Brings the files to `values`, and those that were set earlier and are not among them back to what they had.
  // `all_known`: the values are all that is wished; else nothing is taken back.
  WriteReport apply(const std::vector<GroupValue>& values, base::Time now, bool all_known);
  std::size_t kept() const { return book_.size(); }

 private:
  struct Kept {
    std::string feature, before, value, companion_file, companion_before;
  };

  void set(const GroupValue& value, base::Time now, WriteReport& report);
  void take_back(const std::string& file, const Kept& kept, base::Time now, WriteReport& report);
  void record(const GroupValue& value, const std::string& file, const std::string& present);
  std::string load();
  base::Status save();

  GroupTree tree_;
  std::string book_path_;
  std::string trouble_;
  std::map<std::string, Kept> book_;  // by file
  bool changed_ = false;
};

// Whether the file belongs to a pod's group, or to the group of a class of pods.
bool is_pod_file(const GroupTree& tree, const std::string& file);

}  // namespace colocation
