// The output of the containers of a job, line by line as it comes.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace cli {

struct StartedContainer {
  std::string pod;
  std::string name;
  std::string run;  // tells one start of the container from the next
};
// The containers of the pod that have begun to run.
std::vector<StartedContainer> started_containers(const api::Json& pod);

// Prints streams as lines, each behind the name of its container where `has_heads`.
class LogPrinter {
 public:
  explicit LogPrinter(World& world, bool has_heads = true) : world_(world), has_heads_(has_heads) {}

  void add(int stream, const StartedContainer& from);
  bool knows(int stream) const { return streams_.contains(stream); }
  bool empty() const { return streams_.empty(); }
  // News of a known stream. False if nobody reads any more.
  bool take(const Happening& news);

 private:
  struct Stream {
    std::string head;
    std::string rest;  // a line without its end
  };
  bool take_text(int stream, std::string_view text);
  // A log that ends in the middle of a line ends with a line, too.
  void end(int stream, const base::Status& why);
  void finish_line(Stream& of);
  void print(const std::string& text);

  World& world_;
  bool has_heads_;
  std::map<int, Stream> streams_;
};

}  // namespace cli
