// Bytes that containers, images and runtimes produce, as text of objects: valid UTF-8, cut between characters, bounded.
// Pure.
#pragma once

#include <string>
#include <string_view>

namespace node {

// The part of a container's message file that a kubelet keeps: the end.
inline constexpr std::size_t kMessageBytesMax = 4096;
// The part of a container's output, where that stands in for the message.
inline constexpr std::size_t kLogTailBytesMax = 2048;
inline constexpr std::size_t kLogTailLinesMax = 80;
// The part of an error of a runtime, a registry or another program: the beginning.
inline constexpr std::size_t kReasonBytesMax = 1024;

std::string message_text(std::string_view bytes);
// COMPAT(pipeline-reports): the report of a pipeline's step, which stands in its message.
inline constexpr std::size_t kReportBytesMax = std::size_t{256} << 10;
std::string report_text(std::string_view bytes);
std::string reason_text(std::string_view bytes);
// The last lines of a log file (cri_log.h) of which `raw` is the end.
std::string log_tail_text(std::string_view raw);
// The reason in a runtime's log of JSON lines. The last fatal error is nearer to the cause than what follows from it.
std::string reason_in_runtime_log(std::string_view log);

}  // namespace node
