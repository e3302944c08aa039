// The shared parts of both sides of gRPC: frames and codes.
#include "base/format.h"
#include "rt/grpc/grpc_session.h"

namespace rt {

namespace {

constexpr std::size_t kPrefixBytes = 5;  // whether it is compressed, and its length

}  // namespace

std::string grpc_code_name(GrpcCode code) {
  static constexpr const char* kNames[] = {
      "OK",       "Canceled",       "Unknown",          "InvalidArgument",   "DeadlineExceeded",
      "NotFound", "AlreadyExists",  "PermissionDenied", "ResourceExhausted", "FailedPrecondition",
      "Aborted",  "OutOfRange",     "Unimplemented",    "Internal",          "Unavailable",
      "DataLoss", "Unauthenticated"};
  const int number = static_cast<int>(code);
  return number >= 0 && number < static_cast<int>(std::size(kNames)) ? kNames[number]
                                                                     : base::format("Code({})", number);
}

std::string grpc_frame(std::string_view message) {
  std::string frame(kPrefixBytes, '\0');
  for (std::size_t i = 0; i < 4; ++i) frame[4 - i] = static_cast<char>(message.size() >> (8 * i) & 0xff);
  return frame.append(message);
}

base::Status GrpcFrames::receive(std::string_view bytes, std::vector<std::string>& messages) {
  rest_ += bytes;
  std::string_view left = rest_;
  while (left.size() >= kPrefixBytes) {
    std::size_t size = 0;
    for (std::size_t i = 1; i < kPrefixBytes; ++i) size = size << 8 | static_cast<unsigned char>(left[i]);
    if (left[0] != 0) return base::make_error(base::Code::kInvalid, "a compressed message, which nobody asked for");
    if (size > max_)
      return base::make_error(base::Code::kTooLarge, base::format("a message of {} bytes, {} at most", size, max_));
    if (left.size() < kPrefixBytes + size) break;
    messages.emplace_back(left.substr(kPrefixBytes, size));
    left.remove_prefix(kPrefixBytes + size);
  }
  rest_.erase(0, rest_.size() - left.size());
  return {};
}

}  // namespace rt
