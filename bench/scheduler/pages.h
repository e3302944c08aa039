// A full cluster as lists in pages and as events of watches, in the form in which an API server sends them, made by a
// process of its own: neither its time nor its memory is the reader's.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace bench {

struct ClusterSize {
  int nodes = 0;
  int groups = 0;
  int pods = 0;
};

class Pages {
 public:
  enum class Kind : std::int32_t { kNodes, kGroups, kPods, kQueues };

  // Forks. `protobuf`: objects of core kinds come in that form, as from a stock server; else all in JSON.
  Pages(ClusterSize size, bool protobuf);
  ~Pages();
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  // Items `first` to `first + count` of a list, with the token of the next page. The pods are dealt to the groups
  // evenly and run; one more pod, of one more group, waits. Empty: the other process has ended. Their result lasts
  // until the next question.
  std::string_view page(Kind kind, int first, int count) { return ask(kind, first, count, false); }
  // The same items as additions of a watch. Empty: there are no more.
  std::string_view events(Kind kind, int first, int count) { return ask(kind, first, count, true); }
  bool is_protobuf() const { return protobuf_; }

 private:
  std::string_view ask(Kind kind, int first, int count, bool events);

  bool protobuf_;
  int socket_ = -1;
  pid_t child_ = -1;
  std::string buffer_;
};

}  // namespace bench
