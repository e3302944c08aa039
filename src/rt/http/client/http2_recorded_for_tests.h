// The account that a client's HTTP/2 session gives of one answer, as a text that tests compare.
#pragma once

#include <string>

#include "rt/http/client/http2_session.h"

namespace rt {

// Appends to `what`, which must outlive the session: "200 ", the body, and " done", " refused" or " lost".
inline Http2Session::Callbacks record_into(std::string& what) {
  return {.on_head = [&what](int status, const Headers&) { what += std::to_string(status) + " "; },
          .on_data = [&what](std::string_view bytes) { what += bytes; },
          .on_end =
              [&what](Http2Session::End end, const std::string&) {
                what += end == Http2Session::End::kDone      ? " done"
                        : end == Http2Session::End::kRefused ? " refused"
                                                             : " lost";
              }};
}

}  // namespace rt
