// Commands as tables: parsing, help and errors follow from the rows (cli.md 1).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"
#include "base/time.h"
#include "client/client.h"

namespace cli {

// An API server that answers while the caller waits.
class Api {
 public:
  virtual ~Api() = default;
  virtual base::Result<api::Json> call(client::Request request) = 0;
};

// The world of one invocation; main fills it in, tests fake it.
struct World {
  // From --kubeconfig and --master, either of which may be empty.
  std::function<base::Result<std::unique_ptr<Api>>(const std::string& kubeconfig, const std::string& master)> connect;
  std::function<base::Result<std::string>(const std::string& path)> read_file;
  std::function<base::Result<std::string>(const std::string& url)> fetch;  // GET over plain HTTP
  std::function<std::string(base::Time)> local_time;                       // "2026-08-20 10:07:21 +0800 CST"
  base::Time now;
  std::string version;  // of this build; empty: not known
  std::string out;      // standard output
  std::string err;      // standard error
};

struct Flag {
  enum class Type : std::uint8_t { kText, kBool, kInt, kInt32, kDuration, kLevel, kModules };
  std::string_view name;
  char letter = 0;
  Type type = Type::kText;
  std::string_view fallback = {};
  std::string_view help = {};
};

class Values {
 public:
  void set(std::string_view name, std::string value) { values_[std::string(name)] = std::move(value); }
  const std::string& text(std::string_view name) const;
  bool on(std::string_view name) const { return text(name) == "true"; }
  std::int64_t number(std::string_view name) const;

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

struct Command {
  std::string_view name;
  std::string_view summary;
  std::vector<Flag> flags = {};
  std::vector<Command> children = {};
  // A leaf's work; its error becomes "Failed to <words>: <error>".
  std::function<base::Status(World&, const Values&)> run = {};
  // The flag that an argument which is no flag stands for; empty: such arguments are ignored.
  std::string_view first_argument = {};
  bool is_hidden = false;  // works, but its parent's help does not list it
};

// Runs what `arguments` name; returns the exit status.
int run_command(const Command& root, const std::vector<std::string>& arguments, World& world);
std::string help_text(const std::vector<const Command*>& path);

}  // namespace cli
