// JSON, YAML, quantities, selectors, command lines and definitions of worlds: what was read and written again reads the
// same.
#include "api/json/json.h"
#include "api/json/yaml.h"
#include "api/schema/quantity.h"
#include "api/selector.h"
#include "cli/text/shell_words.h"
#include "controllers/hypernode/discovery.h"
#include "sim/world/definition.h"
#include "targets.h"

namespace fuzz {

using api::Json;

void json(std::string_view input) {
  std::vector<std::string> duplicates;
  const auto parsed = api::parse_json(input, {.duplicate_keys = &duplicates});
  if (!parsed.ok()) return promise(!parsed.error().message.empty(), "an error says something");
  const std::string text = parsed->dump();
  const auto again = api::parse_json(text);
  promise(again.ok(), "what we wrote can be read", text);
  promise(*again == *parsed, "what we wrote reads the same", text);
  // A negative zero that was a fraction is read back as the integer 0, as Go reads it; after that nothing changes.
  const auto third = api::parse_json(again->dump());
  promise(third.ok() && third->dump() == again->dump(), "writing is stable", text);
  const auto pretty = api::parse_json(parsed->pretty());
  promise(pretty.ok() && *pretty == *parsed, "the indented form reads the same", text);
  promise(parsed->sorted() == *parsed, "sorting changes the order only", text);
}

void yaml(std::string_view input) {
  std::vector<std::string> duplicates;
  const auto parsed = api::parse_yaml(input, {.duplicate_keys = &duplicates});
  if (parsed.ok()) {
    for (const std::size_t columns : {0, 80}) {
      const std::string text = api::to_yaml(*parsed, columns);
      const auto again = api::parse_yaml(text);
      promise(again.ok(), "the YAML we wrote can be read",
              again.ok() ? std::string() : again.error().message + "\n" + text);
      promise(*again == *parsed, "the YAML we wrote reads the same",
              parsed->dump() + " became " + again->dump() + "\n" + text);
    }
  }
  (void)api::parse_yaml_documents(input);
}

void quantity(std::string_view input) {
  const auto parsed = api::Quantity::parse(input);
  if (!parsed) return;
  const std::string text = parsed->to_string();
  const auto again = api::Quantity::parse(text);
  promise(again.has_value(), "the canonical form can be read", text);
  promise(*again == *parsed, "the canonical form is the same amount", text);
  // "4562.5Ki" is 4672000 bytes, which reads as 4672k: a number without a suffix is decimal, as in Kubernetes.
  const std::string settled = again->to_string();
  const auto last = api::Quantity::parse(settled);
  promise(last && last->to_string() == settled, "the canonical form is stable", text);
  promise(*parsed - *parsed == api::Quantity(), "nothing is left of it minus itself", text);
  (void)parsed->value();
  (void)parsed->milli_value();
}

void shell_words(std::string_view input) {
  const auto words = cli::split_words(input);
  if (!words.ok()) return promise(words.error().message.starts_with("EOF found "), "an error says what is missing");
  std::string quoted;
  for (const std::string& word : *words) {
    quoted += " '";
    for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    quoted += "'";
  }
  const auto again = cli::split_words(quoted);
  promise(again.ok() && *again == *words, "quoted words read the same", quoted);
}

// Answers of a UFM server, and the configuration of the discovery.
void discovery(std::string_view input) {
  namespace hypernode = controllers::hypernode;
  std::size_t unusable = 0;
  if (const auto found = hypernode::discover_by_ports(input, unusable); found.ok()) {
    for (const hypernode::Found& one : *found) promise(!one.members.empty(), "nothing empty is found", one.name);
  }
  const auto sources = hypernode::parse_discovery(input);
  if (!sources.ok()) return promise(!sources.error().message.empty(), "an error says something");
  for (const hypernode::Source& one : *sources)
    promise(!one.problem.empty() || one.name == "label" || one.name == "ufm", "only what is known runs", one.name);
}

void selector(std::string_view input) {
  const Json labels = Json::object({{"app", "web"}, {"tier", "db"}, {"n", "5"}});
  const auto parsed = api::parse_label_selector(input);
  if (parsed.ok()) (void)parsed->matches(labels);
  const auto fields = api::parse_field_selector(input);
  if (fields.ok()) (void)api::matches(*fields, Json::object({{"metadata", labels}}));
  if (const auto json = api::parse_json(input); json.ok())
    if (const auto from = api::label_selector_from(*json); from.ok()) (void)from->matches(labels);
}

void definition(std::string_view input) {
  auto parsed = sim::parse_definition(input);
  if (!parsed.ok())
    return promise(parsed.error().message.starts_with("line "), "an error names its line", parsed.error().message);
  base::Random dice(1);
  (void)parsed->world.number("nodes", 1, dice);
  (void)parsed->world.span("duration", {}, dice);
  (void)parsed->world.fraction("chance", 0, dice);
  (void)parsed->world.interval("rate", {});
  (void)parsed->world.words("parts", {});
  (void)parsed->world.finish();
}

}  // namespace fuzz
