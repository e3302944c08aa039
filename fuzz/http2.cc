// Bytes of a server over HTTP/2, into the client's session: each request ends once, and nothing of a session grows
// without limit.
#include <string>

#include "rt/http/client/http2_session.h"
#include "targets.h"

namespace fuzz {

namespace {

// An empty SETTINGS frame, with which every server begins.
constexpr std::string_view kSettings("\0\0\0\4\0\0\0\0\0", 9);

}  // namespace

void http2(std::string_view input) {
  constexpr int kRequests = 3;
  int ends[kRequests] = {};
  std::size_t header_bytes = 0;
  std::size_t body_bytes = 0;
  {
    rt::Http2Session session;
    for (int& end : ends) {
      rt::HttpRequest request{.method = "POST", .target = "/"};
      request.body = "body";
      const auto started = session.start(request, "server:1", true,
                                         {.on_head =
                                              [&](int, const rt::Headers& headers) {
                                                for (const auto& [name, value] : headers)
                                                  header_bytes += name.size() + value.size();
                                              },
                                          .on_data = [&](std::string_view bytes) { body_bytes += bytes.size(); },
                                          .on_end = [&end](rt::Http2Session::End, const std::string&) { ++end; }});
      promise(started.ok(), "a new session takes requests");
    }
    session.take_output();
    bool going = session.receive(kSettings).ok();
    const std::size_t step = input.empty() ? 1 : 1 + static_cast<unsigned char>(input.front());
    for (std::size_t at = 0; going && at < input.size(); at += step) {
      going = session.receive(input.substr(at, step)).ok();
      if (going) promise(session.take_output().size() < 1'000'000, "what is said back has a limit");
    }
    session.close("the end");
    promise(session.open_count() == 0, "no request stays open");
  }
  for (const int end : ends) promise(end == 1, "each request ends once");
  promise(header_bytes <= kRequests * rt::kAnswerHeaderBytesMax, "headers have a limit");
  promise(body_bytes <= input.size(), "bodies are what came");
}

}  // namespace fuzz
