// How requests, answers and watch events look on the wire.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/client.h"
#include "rt/http/http.h"

namespace client {

// The place of a request among those that wait: its urgency, and before all of them leases, because a process that
// cannot renew its own has to stop.
inline constexpr std::size_t kRanks = 1 + kUrgencies;
std::uint8_t rank_of(const Request& request);

// Method, target and body. Authorization, host and agent are the sender's part.
rt::HttpRequest encode_request(const Request& request, std::string_view field_manager);
rt::HttpRequest encode_watch(const WatchRequest& request, int timeout_seconds);

// The object of a 2xx answer, or the error that the Status body (or, without one, the code) stands for.
// `only`: what is built of it, or of each item of a list; of an error all is.
base::Result<api::Json> decode_response(const rt::HttpResponse& response, const api::Projection* only = nullptr,
                                        bool is_list = true);
base::Error error_from_status(const api::Json& status, int http_status);

// Cuts a stream of watch events: lines of JSON, or frames of protobuf. Bytes may arrive in any split.
class WatchDecoder {
 public:
  // `only`: what is built of each object; null: all.
  explicit WatchDecoder(const api::Projection* only = nullptr);
  // Before the first bytes: in which form they come.
  void begin(std::string_view content_type);
  // Events that are complete now. An ERROR event or malformed text is an error, after which the stream is useless;
  // events decoded before it are in `events`.
  base::Status feed(std::string_view bytes, std::vector<WatchEvent>& events);

 private:
  // The line at `begin`, which moves behind it; empty: it is not complete yet.
  base::Result<std::optional<std::string_view>> next_line(std::size_t& begin) const;
  base::Result<std::optional<std::string_view>> next_frame(std::size_t& begin) const;
  base::Status take(std::string_view bytes, std::vector<WatchEvent>& events) const;

  std::string rest_;
  std::size_t looked_through_ = 0;  // so much of that has no end of a line
  bool framed_ = false;
  const api::Projection* only_;
  std::optional<api::Projection> event_;  // of a whole line
};

}  // namespace client
