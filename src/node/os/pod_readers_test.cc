// Readers of logs and streams have a thread each: there are so many of both, and none where no thread is left.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <future>
#include <vector>

#include "api/pod_logs.h"
#include "api/pod_streams.h"
#include "base/await_for_tests.h"
#include "base/format.h"
#include "node/machine/machine.h"
#include "node/os/pod_folders.h"
#include "rt/files/files.h"
#include "rt/no_threads_for_tests.h"

namespace node {
namespace {

class PodReaders : public testing::Test {
 protected:
  PodReaders() {
    char name[] = "/tmp/volcano-readers-test.XXXXXX";
    data = ::mkdtemp(name);
    const PodFolders folders(data);
    EXPECT_TRUE(rt::make_folders(folders.container("uid", "main", 0), 0700).ok());
    EXPECT_TRUE(rt::make_folders(folders.pod("uid") + "/logs/main", 0700).ok());
    EXPECT_TRUE(rt::write_file(folders.container("uid", "main", 0) + "/id", "id", 0600).ok());
    EXPECT_TRUE(rt::write_file(folders.log("uid", "main", 0), "2026-01-01T00:00:00Z stdout F word\n", 0600).ok());
    logs = make_pod_logs(data);
  }
  ~PodReaders() override { remove_tree(data); }

  // Returns when the reader has read the first line, or is refused: then with why.
  std::string follow() {
    const auto first = std::make_shared<std::promise<std::string>>();
    const auto output = std::make_shared<std::atomic<bool>>(false);
    const auto report = [first, output](const std::string& what) {
      if (!output->exchange(true)) first->set_value(what);
    };
    api::PodLogOptions options;
    options.container = "main";
    options.follow = true;
    auto stream = logs->open("ns", "pod", "uid", std::move(options), report, [report](const base::Status& status) {
      report(status.ok() ? "ended"
                         : base::format("{} {}", static_cast<int>(status.error().code), status.error().message));
    });
    streams.push_back(std::move(stream));
    return base::await(*first);
  }
  static std::string too_many(const std::string& why) {
    return base::format("{} {}, please try again later", static_cast<int>(base::Code::kTooManyRequests), why);
  }

  std::string data;
  std::unique_ptr<api::PodLogs> logs;
  std::vector<std::shared_ptr<api::PodLogStream>> streams;
};

TEST_F(PodReaders, of_logs_there_are_at_most_512) {
  for (int i = 0; i < 512; ++i) ASSERT_EQ(follow(), "word\n") << i;
  EXPECT_EQ(follow(), too_many("512 logs are being read"));
  streams.erase(streams.begin());
  std::string next;
  do next = follow();
  while (next != "word\n");  // when the thread of the one that left has ended
}

TEST_F(PodReaders, of_logs_need_a_thread) {
  {
    const rt::NoThreads none;
    EXPECT_EQ(follow(), too_many("no thread is free"));
  }
  EXPECT_EQ(follow(), "word\n");
}

// A listener holds the stream, as an answer does, and with the answer goes its connection.
TEST_F(PodReaders, of_logs_let_go_of_who_listens) {
  struct Listener {
    std::shared_ptr<std::promise<void>> gone;
    std::shared_ptr<api::PodLogStream> stream = {};
    ~Listener() { gone->set_value(); }
  };
  const auto listen = [this](bool follows) {
    const auto gone = std::make_shared<std::promise<void>>();
    const auto listener = std::shared_ptr<Listener>(new Listener{gone});
    api::PodLogOptions options;
    options.container = "main";
    options.follow = follows;
    listener->stream = logs->open(
        "ns", "pod", "uid", std::move(options), [listener](const std::string&) {}, [listener](const base::Status&) {});
    if (follows) listener->stream.reset();
    return gone;
  };
  const auto goes = [&](bool follows) {
    return listen(follows)->get_future().wait_for(std::chrono::seconds(30)) == std::future_status::ready;
  };
  EXPECT_TRUE(goes(false)) << "ended";
  EXPECT_TRUE(goes(true)) << "left";
  const rt::NoThreads none;
  EXPECT_TRUE(goes(false)) << "refused";
}

TEST_F(PodReaders, streams_need_a_thread) {
  Options options;
  options.data_dir = data;
  options.mode = Mode::kProcess;
  const auto opener = make_pod_streams(options, true);
  const rt::NoThreads none;
  for (int i = 0; i < 300; ++i) {  // more than may be open: none stays
    const auto opened = opener->exec("uid", {.container = "main", .command = {"true"}}, {});
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, base::Code::kTooManyRequests);
    EXPECT_EQ(opened.error().message, "no thread is free, please try again later");
  }
}

}  // namespace
}  // namespace node
