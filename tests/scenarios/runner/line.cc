// How is a line of a scenario read?
#include "line.h"

#include <algorithm>
#include <cstdlib>

#include "base/format.h"

namespace scenario {

std::vector<std::string> split(std::string_view text, char by) {
  std::vector<std::string> out;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(by, start), text.size());
    if (end > start) out.emplace_back(text.substr(start, end - start));
    start = end + 1;
  }
  return out;
}

api::Json map_from(std::string_view text, bool numbers) {
  api::Json out = api::Json::object();
  for (const std::string& pair : split(text, ',')) {
    const std::size_t colon = pair.find(':');
    const std::string key = pair.substr(0, colon), value = colon == std::string::npos ? "" : pair.substr(colon + 1);
    if (numbers)
      out.set(key, static_cast<std::int64_t>(std::atoll(value.c_str())));
    else
      out.set(key, value);
  }
  return out;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out;
  std::string word;
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ' ' && depth == 0) {
      if (!word.empty()) out.push_back(std::exchange(word, {}));
    } else {
      word += c;
    }
  }
  if (!word.empty()) out.push_back(word);
  return out;
}

std::vector<Line> items_of(std::string_view text) {
  std::vector<Line> out;
  for (const std::string& word : words_of(text)) {
    const std::size_t open = word.find('(');
    Line item;
    if (open != std::string::npos && word.back() == ')') {
      for (const std::string& inner : words_of(std::string_view(word).substr(open + 1, word.size() - open - 2))) {
        const std::size_t end = inner.find_first_of("=(");
        if (end != std::string::npos && inner[end] == '=')
          item.fields.emplace_back(inner.substr(0, end), inner.substr(end + 1));
        else
          item.fields.emplace_back(inner, "");
      }
    }
    for (const std::string& name : expand(word.substr(0, open))) {
      item.name = name;
      out.push_back(item);
    }
  }
  return out;
}

const std::string* Line::find(std::string_view key) const {
  for (const auto& [name, value] : fields) {
    if (name == key) return &value;
  }
  return nullptr;
}

std::string Line::get(std::string_view key, std::string_view fallback) const {
  const std::string* found = find(key);
  return found != nullptr ? *found : std::string(fallback);
}

base::Result<Line> parse_line(std::string_view text, int number) {
  Line out;
  out.number = number;
  std::vector<std::string> words;
  bool quoted = false;
  std::string word;
  for (const char c : text) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ' ' && !quoted) {
      if (!word.empty()) words.push_back(std::exchange(word, {}));
    } else
      word += c;
  }
  if (quoted) return base::make_error(base::Code::kInvalid, base::format("line {}: a quote is not closed", number));
  if (!word.empty()) words.push_back(word);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    if (i == 0)
      out.verb = words[i];
    else if (equals == std::string::npos && out.name.empty())
      out.name = words[i];
    else if (equals == std::string::npos)
      out.fields.emplace_back(words[i], "");
    else
      out.fields.emplace_back(words[i].substr(0, equals), words[i].substr(equals + 1));
  }
  return out;
}

std::vector<std::string> expand(const std::string& name) {
  const std::size_t open = name.find('{'), dots = name.find("..", open), close = name.find('}', open);
  if (open == std::string::npos || dots == std::string::npos || close == std::string::npos) return {name};
  std::vector<std::string> out;
  const int last = std::atoi(name.substr(dots + 2, close - dots - 2).c_str());
  for (int i = std::atoi(name.substr(open + 1, dots - open - 1).c_str()); i <= last; ++i) {
    out.push_back(name.substr(0, open) + std::to_string(i) + name.substr(close + 1));
  }
  return out;
}

}  // namespace scenario
