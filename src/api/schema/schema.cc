// The basic shapes, and the compact tables of Kubernetes' kinds turned into a graph.
#include "api/schema/schema.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>

namespace api {
namespace {

constexpr std::string_view kTables =
#include "api/core/tables.inc"
    ;

Schema basic(Schema::Kind kind, std::string format = {}) {
  Schema schema;
  schema.kind = kind;
  schema.format = std::move(format);
  return schema;
}

std::string full_name(std::string_view alias) {
  if (alias.starts_with("meta.")) return "io.k8s.apimachinery.pkg.apis." + std::string(alias);
  if (alias.starts_with("apiextensions.")) return "io.k8s.apiextensions-apiserver.pkg.apis." + std::string(alias);
  if (alias.starts_with("runtime.") || alias.starts_with("version.") || alias.starts_with("util.") ||
      alias.starts_with("api."))
    return "io.k8s.apimachinery.pkg." + std::string(alias);
  return "io.k8s.api." + std::string(alias);
}

std::string_view take_word(std::string_view& line) {
  const std::size_t end = line.find(' ');
  const std::string_view word = line.substr(0, end);
  line = end == std::string_view::npos ? std::string_view() : line.substr(end + 1);
  return word;
}

// Owns the graph; built once, when first asked for.
class Registry {
 public:
  Registry() {
    for_each_line([&](std::string_view line) {
      if (line[0] == ':') {
        line.remove_prefix(1);
        const std::string_view alias = take_word(line);
        auto schema = std::make_unique<Schema>();
        schema->kind = Schema::Kind::kObject;
        schema->name = full_name(alias);
        schema->atomic = line == "atomic";
        named_.emplace(alias, std::move(schema));
      }
    });
    Schema* current = nullptr;
    for_each_line([&](std::string_view line) {
      if (line[0] == ':') {
        current = named_.find(line.substr(1, line.find(' ') - 1))->second.get();
      } else if (line[0] == ' ') {
        line.remove_prefix(1);
        current->fields.push_back(field(line));
      }
    });
    // A type that is used with words of its own may stand below its user.
    for (const auto& [copy, original] : altered_) copy->fields = original->fields;
  }

  const Schema& named(std::string_view alias) const {
    const auto found = named_.find(alias);
    CHECK(found != named_.end());
    return *found->second;
  }

  std::vector<const Schema*> all() const {
    std::vector<const Schema*> result;
    for (const auto& [alias, schema] : named_) result.push_back(schema.get());
    return result;
  }

 private:
  template <class Visit>
  static void for_each_line(Visit visit) {
    for (std::size_t begin = 0; begin < kTables.size();) {
      const std::size_t end = kTables.find('\n', begin);
      const std::string_view line = kTables.substr(begin, end - begin);
      begin = end == std::string_view::npos ? kTables.size() : end + 1;
      if (!line.empty() && line[0] != '#') visit(line);
    }
  }

  Schema* own(Schema schema) {
    owned_.push_back(std::make_unique<Schema>(std::move(schema)));
    return owned_.back().get();
  }

  const Schema* type(std::string_view text) {
    if (text.starts_with('[') || text.starts_with('{')) {
      Schema schema = basic(text[0] == '[' ? Schema::Kind::kList : Schema::Kind::kMap);
      schema.element = type(text.substr(1, text.size() - 2));
      return own(std::move(schema));
    }
    if (text.size() == 1) {
      switch (text[0]) {
        case 's': return &string_schema();
        case 'i': return &int32_schema();
        case 'l': return &int64_schema();
        case 'b': return &boolean_schema();
        case 'd': return &double_schema();
        case 'y': return &bytes_schema();
        case 'q': return &quantity_schema();
        case 'x': return &int_or_string_schema();
        case 't': return &time_schema();
        case 'T': return &micro_time_schema();
        case '*': return &any_schema();
        default: break;
      }
    }
    return &named(text);
  }

  SchemaField field(std::string_view line) {
    SchemaField row;
    row.name = take_word(line);
    row.schema = type(take_word(line));
    Schema changed = *row.schema;
    bool differs = false;
    while (!line.empty()) {
      const std::string_view word = line.starts_with('=') ? std::exchange(line, {}) : take_word(line);
      if (word == "!") {
        row.required = true;
        continue;
      }
      if (word.starts_with('#')) {
        const std::string text(word.substr(1));
        const char* at = text.c_str();
        for (std::int16_t& outer : row.outer_numbers) {
          const char* const dot = std::strchr(at, '.');
          if (!dot) break;
          outer = static_cast<std::int16_t>(std::atoi(at));
          at = dot + 1;
        }
        row.number = std::atoi(at);
        row.omits_zero = text.ends_with('~');
        continue;
      }
      if (word.starts_with('=')) {
        auto parsed = parse_json(word.substr(1));
        CHECK(parsed.ok());
        row.default_value = *std::move(parsed);
        continue;
      }
      differs = true;
      apply_word(changed, word);
    }
    if (!differs) return row;
    Schema* const copy = own(std::move(changed));
    altered_.emplace_back(copy, row.schema);
    row.schema = copy;
    return row;
  }

  static void apply_word(Schema& schema, std::string_view word) {
    if (word == "atomic") {
      schema.list_type = Schema::ListType::kAtomic;
      schema.atomic = true;
    } else if (word == "set") {
      schema.list_type = Schema::ListType::kSet;
    } else if (word.starts_with("map:")) {
      schema.list_type = Schema::ListType::kMap;
      std::string_view keys = word.substr(4);
      while (!keys.empty()) {
        const std::size_t comma = keys.find(',');
        schema.list_keys.emplace_back(keys.substr(0, comma));
        keys = comma == std::string_view::npos ? std::string_view() : keys.substr(comma + 1);
      }
    } else if (word.starts_with("merge:")) {
      schema.patch_merge = true;
      schema.patch_merge_key = word.substr(6);
    } else if (word == "retainKeys") {
      schema.patch_retain_keys = true;
    } else {
      CHECK(word == "granular");
    }
  }

  std::map<std::string, std::unique_ptr<Schema>, std::less<>> named_;
  std::vector<std::unique_ptr<Schema>> owned_;
  std::vector<std::pair<Schema*, const Schema*>> altered_;
};

const Registry& registry() {
  static const Registry instance;
  return instance;
}

}  // namespace

const SchemaField* Schema::field(std::string_view wanted) const {
  const auto found =
      std::ranges::lower_bound(fields, wanted, {}, [](const SchemaField& f) { return std::string_view(f.name); });
  return found != fields.end() && found->name == wanted ? &*found : nullptr;
}

const Schema& core_schema(std::string_view short_name) { return registry().named(short_name); }
std::vector<const Schema*> all_core_schemas() { return registry().all(); }

#define API_BASIC_SCHEMA(function, ...)              \
  const Schema& function() {                         \
    static const Schema schema = basic(__VA_ARGS__); \
    return schema;                                   \
  }
API_BASIC_SCHEMA(string_schema, Schema::Kind::kString)
API_BASIC_SCHEMA(int32_schema, Schema::Kind::kInteger, "int32")
API_BASIC_SCHEMA(int64_schema, Schema::Kind::kInteger, "int64")
API_BASIC_SCHEMA(double_schema, Schema::Kind::kNumber, "double")
API_BASIC_SCHEMA(boolean_schema, Schema::Kind::kBoolean)
API_BASIC_SCHEMA(time_schema, Schema::Kind::kString, "date-time")
API_BASIC_SCHEMA(micro_time_schema, Schema::Kind::kString, "micro-time")
API_BASIC_SCHEMA(bytes_schema, Schema::Kind::kString, "byte")
API_BASIC_SCHEMA(quantity_schema, Schema::Kind::kQuantity)
API_BASIC_SCHEMA(int_or_string_schema, Schema::Kind::kIntOrString)
API_BASIC_SCHEMA(any_schema, Schema::Kind::kAny)
#undef API_BASIC_SCHEMA

}  // namespace api
