// Log lines for operators, on standard error, as text or JSON lines. Values are escaped.
// Decisions and expected conflicts are not logged; objects' statuses and events carry them.
#pragma once

#include <cstdint>
#include <string_view>

namespace base {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError };
enum class LogFormat : std::uint8_t { kText, kJson };

// Call once, before other threads start. Default: kInfo, kText.
void configure_log(LogLevel level, LogFormat format);

// Any thread, while others log.
void set_log_level(LogLevel level);

// Thread-safe. `component` is a stable word: "apiserver", "scheduler", ...
void log(LogLevel level, std::string_view component, std::string_view message);

inline void log_debug(std::string_view c, std::string_view m) { log(LogLevel::kDebug, c, m); }
inline void log_info(std::string_view c, std::string_view m) { log(LogLevel::kInfo, c, m); }
inline void log_warning(std::string_view c, std::string_view m) { log(LogLevel::kWarning, c, m); }
inline void log_error(std::string_view c, std::string_view m) { log(LogLevel::kError, c, m); }

}  // namespace base
