// Bytes of a client over SPDY: it can be read in any pieces, and costs no more than its size.
#include "rt/http/spdy.h"

#include "rt/http/spdy_all_for_tests.h"
#include "targets.h"

namespace fuzz {

void spdy(std::string_view input) {
  rt::SpdyReader whole, pieces;
  const auto frames = all_frames(whole, input);
  std::size_t data_bytes = 0, count = 0;
  bool going = true;
  const std::size_t step = input.empty() ? 1 : 1 + static_cast<unsigned char>(input.front()) % 16;
  for (std::size_t at = 0; going && at < input.size(); at += step) {
    const auto some = all_frames(pieces, input.substr(at, step));
    going = some.ok();
    if (!going) continue;
    for (const rt::SpdyFrame& frame : *some) {
      ++count;
      data_bytes += frame.data.size();
      std::size_t header_bytes = 0;
      for (const auto& [name, value] : frame.headers) header_bytes += name.size() + value.size();
      promise(header_bytes <= rt::SpdyReader::kHeaderBytesMax, "headers have a limit");
    }
  }
  promise(going == frames.ok(), "pieces are read as the whole is");
  promise(!frames.ok() || frames->size() == count, "and give the same frames");
  promise(data_bytes <= input.size(), "data is what came");
}

}  // namespace fuzz
