// spdlog behind one function; its header is compiled here only.
#include "base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <string>

namespace base {
namespace {

spdlog::logger& logger() {
  static const auto instance = [] {
    auto made = spdlog::stderr_logger_mt("volcano");
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%e %L %v");
    made->flush_on(spdlog::level::info);
    return made;
  }();
  return *instance;
}

bool json_lines = false;

std::string escaped(std::string_view text, bool quote) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string result;
  for (const char c : text) {
    if (c == '\n') {
      result += "\\n";
    } else if (quote && (c == '"' || c == '\\')) {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      result += "\\u00";
      result += kHex[static_cast<unsigned char>(c) >> 4];
      result += kHex[c & 15];
    } else {
      result += c;
    }
  }
  return result;
}

spdlog::level::level_enum level_for(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return spdlog::level::debug;
    case LogLevel::kInfo: return spdlog::level::info;
    case LogLevel::kWarning: return spdlog::level::warn;
    case LogLevel::kError: return spdlog::level::err;
  }
  return spdlog::level::info;
}

}  // namespace

void configure_log(LogLevel level, LogFormat format) {
  json_lines = format == LogFormat::kJson;
  logger().set_level(level_for(level));
  if (json_lines)
    logger().set_pattern(R"({"time":"%Y-%m-%dT%H:%M:%S.%fZ","level":"%l",%v})", spdlog::pattern_time_type::utc);
}

void set_log_level(LogLevel level) { logger().set_level(level_for(level)); }

void log(LogLevel level, std::string_view component, std::string_view message) {
  const auto at = level_for(level);
  if (!logger().should_log(at)) return;
  if (json_lines)
    logger().log(at, "\"component\":\"{}\",\"message\":\"{}\"", escaped(component, true), escaped(message, true));
  else
    logger().log(at, "{}: {}", component, escaped(message, false));
}

}  // namespace base
