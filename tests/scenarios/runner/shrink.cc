// The smallest part of a scenario that still fails.
#include "shrink.h"

#include <algorithm>
#include <vector>

#include "api/json/json.h"
#include "base/format.h"

namespace scenario {
namespace {

using api::Json;
using Fails = std::function<bool(const std::string&)>;

// A line with the patch or the blank line that belongs to it.
using Block = std::string;

std::vector<Block> blocks_of(const std::string& text) {
  std::vector<Block> out;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size() - 1);
    const std::string line = text.substr(start, end + 1 - start);
    if (!out.empty() && (line == "\n" || line.starts_with("  +")))
      out.back() += line;
    else
      out.push_back(line);
    start = end + 1;
  }
  return out;
}

std::string join(const std::vector<Block>& blocks) {
  std::string out;
  for (const Block& one : blocks) out += one;
  return out;
}

// Leaves out runs of blocks, long ones first.
bool drop_blocks(std::vector<Block>& blocks, const Fails& fails) {
  bool any = false;
  for (std::size_t size = std::max<std::size_t>(blocks.size() / 2, 1); size > 0; size /= 2) {
    for (std::size_t at = 0; at + size <= blocks.size();) {
      std::vector<Block> fewer = blocks;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(at),
                  fewer.begin() + static_cast<std::ptrdiff_t>(at + size));
      if (fails(join(fewer)))
        blocks = std::move(fewer), any = true;
      else
        at += size;
    }
  }
  return any;
}

// The text without the characters from `from` to `to`.
std::string without(const std::string& text, std::size_t from, std::size_t to) {
  return text.substr(0, from) + text.substr(to);
}

// The parts of a line that may be left out: its words after the name, and within quotes plugins, their arguments and
// actions.
std::vector<std::pair<std::size_t, std::size_t>> words_in(const std::string& line) {
  std::vector<std::pair<std::size_t, std::size_t>> out;
  bool quoted = false;
  int depth = 0;
  std::size_t word = 0, part = 0, open = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && (c == ' ' || c == ',' || c == '"' || c == ')')) {  // of a list in quotes
      if (depth <= 1 && i > part) out.emplace_back(part, c == ' ' || c == ',' ? i + 1 : i);
      part = i + 1;
    }
    if (c == '"') quoted = !quoted, part = i + 1;
    if (c == '(') open = i, part = i + 1, ++depth;
    if (c == ')') out.emplace_back(open, i + 1), --depth;
    if ((c == ' ' || c == '\n') && !quoted && depth == 0) {
      const bool is_name =
          word < line.find(' ') + 1 || (word == line.find(' ') + 1 && line.substr(0, i).find('=') == std::string::npos);
      if (!is_name && i > word) out.emplace_back(word - 1, i);
      word = i + 1;
    }
  }
  return out;
}

// Shorter forms of one line: without a word, an argument, or with fewer in a range.
std::vector<std::string> shorter_lines(const std::string& line) {
  std::vector<std::string> out;
  const std::size_t open = line.find('{'), dots = line.find("..", open), close = line.find('}', open);
  if (open != std::string::npos && dots != std::string::npos && close != std::string::npos) {
    const int first = std::atoi(line.c_str() + open + 1), last = std::atoi(line.c_str() + dots + 2);
    if (first == last) out.push_back(line.substr(0, open) + std::to_string(first) + line.substr(close + 1));
    for (int end = first; end < last; ++end)
      out.push_back(base::format("{}{{{}..{}}}{}", line.substr(0, open), first, end, line.substr(close + 1)));
  }
  for (const auto& [from, to] : words_in(line)) out.push_back(without(line, from, to));
  // One of a list: labels, nodes of a domain, resources of a limit.
  for (std::size_t i = line.find(','); i != std::string::npos; i = line.find(',', i + 1)) {
    const std::size_t end = std::min(line.find_first_of(", \n", i + 1), line.size());
    out.push_back(without(line, i, end));
    const std::size_t equals = line.rfind('=', i), comma = line.rfind(',', i - 1);
    if (equals != std::string::npos)
      out.push_back(without(line, comma != std::string::npos && comma > equals ? comma : equals + 1, i + 1));
  }
  return out;
}

// The document without one member or element, for each of them, at any depth.
void shorter_documents(const Json& document, std::vector<Json>& out) {
  if (document.is_object()) {
    for (const auto& member : document.members()) {
      Json fewer = document;
      fewer.erase(member.name());
      out.push_back(std::move(fewer));
      std::vector<Json> inner;
      shorter_documents(member.value, inner);
      for (Json& one : inner) {
        Json changed = document;
        changed.set(member.name(), std::move(one));
        out.push_back(std::move(changed));
      }
    }
  } else if (document.is_array()) {
    for (std::size_t i = 0; i < document.size(); ++i) {
      std::vector<Json> fewer;
      for (std::size_t k = 0; k < document.size(); ++k) {
        if (k != i) fewer.push_back(document[k]);
      }
      out.push_back(Json::array(std::move(fewer)));
      std::vector<Json> inner;
      shorter_documents(document[i], inner);
      for (Json& one : inner) {
        Json changed = document;
        changed.edit(i) = std::move(one);
        out.push_back(std::move(changed));
      }
    }
  }
}

std::vector<std::string> shorter_blocks(const Block& block) {
  const std::size_t end = block.find('\n') + 1;
  const std::string line = block.substr(0, end), rest = block.substr(end);
  std::vector<std::string> out;
  if (rest.starts_with("  +")) {
    out.push_back(line);
    if (const auto patch = api::parse_json(rest.substr(3)); patch.ok()) {
      std::vector<Json> fewer;
      shorter_documents(*patch, fewer);
      for (const Json& one : fewer) out.push_back(line + "  + " + one.dump() + "\n");
    }
  }
  for (const std::string& one : shorter_lines(line)) out.push_back(one + rest);
  return out;
}

bool shorten_blocks(std::vector<Block>& blocks, const Fails& fails) {
  bool any = false;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    for (bool again = true; again;) {
      again = false;
      for (std::string& one : shorter_blocks(blocks[i])) {
        std::vector<Block> changed = blocks;
        changed[i] = std::move(one);
        if (changed[i].find('\n') == std::string::npos || !fails(join(changed))) continue;
        blocks = std::move(changed);
        any = again = true;
        break;
      }
    }
  }
  return any;
}

}  // namespace

std::string shrink(const std::string& text, const Fails& fails) {
  std::vector<Block> blocks = blocks_of(text);
  for (bool again = true; again;) {
    again = drop_blocks(blocks, fails);
    again |= shorten_blocks(blocks, fails);
  }
  return join(blocks);
}

}  // namespace scenario
