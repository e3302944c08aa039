// The text of a definition, read by toml++. This file is the only one that sees it.
#include <stdexcept>

// What the library takes for impossible can be reached by a text (a table named "[$]"), and would be undefined in a
// release build: its assertions stay on, and refuse the text.
[[noreturn]] static void refuse_text() { throw std::invalid_argument("this is no TOML that can be read"); }
#define TOML_EXCEPTIONS 0
#define TOML_ASSERT(fact) ((fact) ? static_cast<void>(0) : refuse_text())
#pragma push_macro("NDEBUG")
#undef NDEBUG
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "sim/definition.h"

namespace sim {

using api::Json;
using base::Result;

namespace {

base::Error at_line(std::size_t line, std::string_view what) {
  return base::make_error(base::Code::kInvalid, base::format("line {}: {}", line, what));
}

// Null for what no setting is: tables, dates, numbers that are none.
Json json_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return Json(std::string_view(text->get()));
  if (const auto* number = node.as_integer()) return Json(number->get());
  if (const auto* flag = node.as_boolean()) return Json(flag->get());
  if (const auto* fraction = node.as_floating_point())
    return std::isfinite(fraction->get()) ? Json(fraction->get()) : Json();
  const auto* list = node.as_array();
  if (list == nullptr) return Json();
  std::vector<Json> items;
  for (const toml::node& item : *list) {
    items.push_back(json_of(item));
    if (items.back().is_null()) return Json();
  }
  return Json::array(std::move(items));
}

base::Status fill(Settings& settings, const toml::table& table) {
  for (const auto& [key, node] : table) {
    Json value = json_of(node);
    if (value.is_null())
      return at_line(
          node.source().begin.line,
          base::format("{}: the value must be a string, a number, true, false, or an array of those", key.str()));
    settings.add(std::string(key.str()), std::move(value), static_cast<int>(node.source().begin.line));
  }
  return {};
}

base::Status read_table(Definition& definition, std::string_view name, const toml::node& node) {
  const std::size_t line = node.source().begin.line;
  if (name == "world" && node.is_table()) {
    definition.world = Settings("world", static_cast<int>(line));
    return fill(definition.world, *node.as_table());
  }
  for (const auto& [known, list] :
       {std::pair{"workload", &definition.workloads}, {"fault", &definition.faults}, {"check", &definition.checks}}) {
    if (name != known || !node.is_array_of_tables()) continue;
    for (const toml::node& one : *node.as_array())
      TRY_VOID(fill(list->emplace_back(known, static_cast<int>(one.source().begin.line)), *one.as_table()));
    return {};
  }
  return at_line(line, base::format("{}: must be [world] (once), [[workload]], [[fault]] or [[check]]", name));
}

bool breaks_the_parser(std::string_view text) try {
  (void)toml::parse(text);
  return false;
} catch (const std::invalid_argument&) {
  return true;
}

// The library does not say where: the first line whose end a text may not reach.
std::size_t breaking_line(std::string_view text) {
  std::vector<std::size_t> ends;  // of lines
  for (std::size_t at = 0; at < text.size(); at = ends.back())
    ends.push_back(std::min(text.find('\n', at), text.size() - 1) + 1);
  const auto first = std::partition_point(ends.begin(), ends.end(),
                                          [&](std::size_t end) { return !breaks_the_parser(text.substr(0, end)); });
  return static_cast<std::size_t>(first - ends.begin()) + 1;
}

}  // namespace

Result<Definition> parse_definition(std::string_view text) try {
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) return at_line(parsed.error().source().begin.line, parsed.error().description());
  Definition definition;
  for (const auto& [name, node] : parsed.table()) TRY_VOID(read_table(definition, name.str(), node));
  return definition;
} catch (const std::invalid_argument& broken) {
  return at_line(breaking_line(text), broken.what());
}

}  // namespace sim
