// The output of a process before it is known to have begun is kept back, not thrown away.
#include "node/os/streams/stream_pump.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <thread>

namespace node {
namespace {

TEST(StreamPump, keeps_all_that_comes_before_it_may_begin) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  std::string output;
  for (int i = 0; output.size() < 1'000'000; ++i) output += std::to_string(i);
  std::thread speaker([&] {
    for (std::size_t at = 0; at < output.size();) {
      const ssize_t put = ::write(ends[1], output.data() + at, output.size() - at);
      if (put <= 0) break;
      at += static_cast<std::size_t>(put);
    }
    ::close(ends[1]);
  });
  std::string wants_output;
  api::PodStreamEvents events;
  events.on_output = [&wants_output](int, std::string bytes) { wants_output += bytes; };
  events.on_room = [] {};
  events.on_end = [](base::Result<int>) {};
  StreamPump pump(std::move(events));
  StreamEnds of;
  of.outputs[0] = ends[0];
  of.may_begin = [looks = 0]() mutable { return ++looks > 40; };  // more than the pipe and what is held could take
  pump.run(of);
  speaker.join();
  ::close(ends[0]);
  EXPECT_TRUE(wants_output == output) << wants_output.size() << " of " << output.size();
}

}  // namespace
}  // namespace node
