// Cutting and cleaning.
#include "node/machine/container_text.h"

#include <vector>

#include "api/json/json.h"
#include "base/utf8.h"
#include "node/machine/cri_line.h"

namespace node {

namespace {

// To clean can lengthen: a bad byte becomes three.
std::string clean_end(std::string_view bytes, std::size_t bytes_max) {
  return std::string(base::utf8_suffix(base::to_utf8(base::utf8_suffix(bytes, bytes_max)), bytes_max));
}

std::string_view next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

}  // namespace

std::string message_text(std::string_view bytes) { return clean_end(bytes, kMessageBytesMax); }

std::string report_text(std::string_view bytes) { return clean_end(bytes, kReportBytesMax); }

std::string reason_text(std::string_view bytes) {
  const std::string clean = base::to_utf8(base::utf8_prefix(bytes, kReasonBytesMax));
  std::string text(base::utf8_prefix(clean, kReasonBytesMax));
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

std::string log_tail_text(std::string_view raw) {
  // The text after the last newline is being written.
  const std::size_t end = raw.rfind('\n');
  raw = raw.substr(0, end == std::string_view::npos ? 0 : end);
  std::vector<std::string> lines;
  bool open = false;
  while (!raw.empty()) {
    CriLine line;
    if (!parse_cri_line(next_line(raw), line)) continue;
    if (!open) lines.emplace_back();
    lines.back() += line.text;
    if (!line.partial) lines.back() += '\n';
    open = line.partial;
  }
  std::string out;
  for (std::size_t i = lines.size() > kLogTailLinesMax ? lines.size() - kLogTailLinesMax : 0; i < lines.size(); ++i)
    out += lines[i];
  return clean_end(out, kLogTailBytesMax);
}

std::string reason_in_runtime_log(std::string_view log) {
  std::string fatal, error;
  while (!log.empty()) {
    const auto json = api::parse_json(base::to_utf8(next_line(log)));
    if (!json.ok()) continue;
    const std::string_view level = (*json)["level"].as_string();
    if (level == "fatal") fatal = (*json)["msg"].str();
    if (level == "error") error = (*json)["msg"].str();
  }
  if (fatal.empty()) return reason_text(error);
  return reason_text(error.empty() ? fatal : error + ": " + fatal);
}

}  // namespace node
