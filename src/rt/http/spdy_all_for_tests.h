// All frames of some bytes, for tests.
#pragma once

#include <string_view>
#include <vector>

#include "rt/http/spdy.h"

namespace rt {

inline base::Result<std::vector<SpdyFrame>> all_frames(SpdyReader& reader, std::string_view bytes) {
  reader.put(bytes);
  std::vector<SpdyFrame> frames;
  for (;;) {
    TRY(auto frame, reader.next());
    if (!frame) return frames;
    frames.push_back(*std::move(frame));
  }
}

}  // namespace rt
