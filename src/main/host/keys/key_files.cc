// Files that the program has written, and that others may have changed since.
#include "main/host/keys/key_files.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "rt/files/bounded_files.h"

namespace volcano_main {
namespace {

using base::Code;
using base::make_error;

constexpr std::size_t kBytesMax = std::size_t{1} << 20;

struct Known {
  std::string_view name;
  std::string_view needed_by;  // another file; empty: it is needed in any case
};
constexpr std::array<Known, 8> kKnown = {{{"ca.crt", ""},
                                          {"ca.key", ""},
                                          {"server.crt", "server.key"},
                                          {"server.key", "server.crt"},
                                          {"admin.crt", "admin.key"},
                                          {"admin.key", "admin.crt"},
                                          {"token", ""},
                                          {"sa.key", ""}}};

}  // namespace

base::Result<std::optional<std::string>> read_key_file(const std::string& path) {
  auto text = rt::read_bounded_file(path, kBytesMax, {});
  if (!text.ok() && text.error().code == Code::kNotFound) return std::optional<std::string>();
  if (!text.ok()) return text.take_error();
  if (text->find_first_not_of(" \t\r\n") == std::string::npos)
    return make_error(Code::kInvalid, base::format("{} is empty; put its content back, or remove it together with what "
                                                   "belongs to it to have both made anew",
                                                   path));
  return std::optional(*std::move(text));
}

bool is_key_file(std::string_view name) {
  return std::ranges::any_of(kKnown, [name](const Known& one) { return one.name == name; });
}

base::Result<std::vector<KeyFile>> all_key_files(const std::string& folder) {
  std::vector<KeyFile> all;
  const auto has = [&all](std::string_view name) {
    return std::ranges::any_of(all, [name](const KeyFile& one) { return one.name == name; });
  };
  for (const Known& known : kKnown) {
    TRY(auto content, read_key_file(base::format("{}/{}", folder, known.name)));
    if (content) all.push_back({std::string(known.name), *std::move(content)});
  }
  std::string missing;
  for (const Known& known : kKnown)
    if (!has(known.name) && (known.needed_by.empty() || has(known.needed_by)))
      missing += base::format("{}{}", missing.empty() ? "" : ", ", known.name);
  if (missing.empty()) return all;
  return make_error(Code::kNotFound, base::format("{} has no {}: without the keys a restored cluster lets none of its "
                                                  "users and pods in. Put them back, or leave --keys out",
                                                  folder, missing));
}

}  // namespace volcano_main
