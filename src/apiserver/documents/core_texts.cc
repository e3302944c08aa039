// The texts, read once from their tables.
#include "apiserver/documents/core_texts.h"

#include <algorithm>

namespace apiserver {
namespace {

constexpr std::string_view kTables[] = {
#include "apiserver/documents/core_texts_cluster.inc"
    ,
#include "apiserver/documents/core_texts_pods.inc"
    ,
#include "apiserver/documents/core_texts_workloads.inc"
};

void read_line(std::string_view line, std::string_view& type, CoreTexts& texts) {
  if (line.empty() || line[0] == '#') return;
  const bool begins_type = line[0] == ':';
  line.remove_prefix(1);
  const std::size_t space = line.find(' ');
  const std::string_view name = line.substr(0, space);
  const std::string_view text = space == line.npos ? std::string_view() : line.substr(space + 1);
  if (begins_type) type = name;
  texts.emplace(std::pair(type, begins_type ? std::string_view() : name), text);
}

CoreTexts read_tables() {
  CoreTexts texts;
  for (std::string_view table : kTables) {
    std::string_view type;
    while (!table.empty()) {
      const std::size_t end = std::min(table.find('\n'), table.size());
      read_line(table.substr(0, end), type, texts);
      table.remove_prefix(std::min(end + 1, table.size()));
    }
  }
  return texts;
}

}  // namespace

const CoreTexts& core_texts() {
  static const CoreTexts texts = read_tables();
  return texts;
}

std::string_view core_text(std::string_view type, std::string_view field) {
  const auto find = [](std::string_view of, std::string_view name) {
    const auto found = core_texts().find({of, name});
    return found == core_texts().end() ? std::string_view() : found->second;
  };
  const std::string_view taken_from = field.empty() ? std::string_view() : find(type, "&");
  const std::string_view shared = type.ends_with("Condition") ? "*Condition" : "*";
  for (const std::string_view of : {type, taken_from, shared})
    if (const std::string_view text = find(of, field); !text.empty()) return text;
  return {};
}

}  // namespace apiserver
