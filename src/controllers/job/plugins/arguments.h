// The argument list of a job plugin, read as command-line flags; and edits that several plugins make to pods.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "controllers/job/job.h"

namespace controllers::job {

struct Flag {
  enum class Type : std::uint8_t { kText, kBool, kNumber };
  std::string_view name;
  Type type;
  std::string_view fallback;
};

class Flags {
 public:
  // Reading stops at the first error, which is logged; what was read before it stays.
  Flags(std::span<const Flag> known, const std::vector<std::string>& args);

  const std::string& text(std::string_view name) const;
  bool on(std::string_view name) const;
  std::int64_t number(std::string_view name) const;
  // Takes the arguments over; returns what stopped it, or nothing.
  std::string read(std::span<const Flag> known, const std::vector<std::string>& args);

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

// Calls `edit` for every container, and every init container if asked. A pod that has grown larger than one can be
// stored is edited no further: a few thousand containers would be given a few thousand things each.
void for_containers(api::Json& pod, bool init_too, const std::function<void(api::Json& container)>& edit);
void add_env(api::Json& container, std::string_view name, const api::Json& value);
// Unless a port with that number is listed already.
void open_port(api::Json& container, std::string_view name, std::int64_t port);

// "<host>.<domain>" of one pod; and of all pods of a task, one only where the template fixes the host name.
std::string address(const Job& job, const Task& task, std::int64_t index);
std::vector<std::string> addresses(const Job& job, const Task& task);
// More of them do not fit into an object, and the server says so; there may be more than there is memory.
inline constexpr std::int64_t kAddressesMax = 50'000;
std::string join(const std::vector<std::string>& parts, std::string_view separator);

// The labels that select all pods of the job.
api::Json job_selector(const Job& job);
// apiVersion, kind and metadata of an object the job owns.
api::Json owned_object(const Job& job, std::string_view api_version, std::string_view kind, std::string_view name);

}  // namespace controllers::job
