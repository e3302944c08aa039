// Moves bytes between a stream of the API and descriptors of this machine: pipes of a process, a terminal, a socket.
//
//   write(), close_input(), resize(), end()          a thread of its own, in run()
//   any thread  ---- queue, eventfd ------------->   poll: descriptors, the process's end
//                                                    on_output, on_room ----> the reader
#pragma once

#include <sys/types.h>

#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "api/pod_streams.h"
#include "base/time.h"

namespace node {

// The ends of a stream. Descriptors are not blocking, and closed by whoever made them; -1: there is none.
struct StreamEnds {
  int input = -1;  // bytes of the stream's writer go there
  int outputs[2] = {-1, -1};
  bool packets = false;                    // of conmon: each has its channel in front
  int ended = -1;                          // readable when there is no more; -1: the end of the outputs tells
  int owner_ended = -1;                    // readable when the stream has to end, too
  std::function<void()> close_input = {};  // nothing more is written
  std::function<void(int columns, int rows)> resize = {};
  std::function<void()> kill = {};  // asked once, when the stream is to end before it did so itself
  // Asked before anything is handed on; false: it is kept back for now.
  std::function<bool()> may_begin = {};
};

class StreamPump : public api::PodStream {
 public:
  explicit StreamPump(api::PodStreamEvents events);
  ~StreamPump() override;

  bool write(std::string bytes) override;
  void close_input() override;
  void resize(int columns, int rows) override;
  void end() override;

  bool is_ended() const;
  // On the stream's own thread, until nothing more can come. Output that may_begin() kept back is dropped.
  void run(const StreamEnds& ends);
  // Last.
  void finish(base::Result<int> how);

 private:
  void wake();
  bool take_input(StreamEnds& ends);
  bool read_output(StreamEnds& ends, int which);
  void wait(StreamEnds& ends);
  void pass_on(int channel, std::string bytes);

  api::PodStreamEvents events_;
  int wake_ = -1;
  mutable std::mutex mutex_;  // guards what follows, up to the thread's own
  std::string input_;
  bool input_full_ = false;  // its writer waits
  bool input_closed_ = false;
  bool ended_ = false;
  std::optional<std::pair<int, int>> size_;

  // The state of the stream's thread:
  std::string held_[2];  // outputs that wait for may_begin()
  bool begun_ = false;
  bool killed_ = false;
  bool over_ = false;            // what ran has ended; the rest of its output is left
  std::size_t rest_bytes_ = 0;   // of it, that came
  std::int64_t idle_since_ = 0;  // milliseconds of the monotonic clock
};

}  // namespace node
