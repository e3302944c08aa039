// Lines arrive in order, in the file that has the name now, and what cannot be kept is said.
#include "rt/files/line_log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <future>

#include "base/await_for_tests.h"
#include "rt/files/files.h"

namespace rt {
namespace {

struct Folder {
  std::string path = std::string(::testing::TempDir()) + "line-log-XXXXXX";
  Folder() { EXPECT_NE(mkdtemp(path.data()), nullptr); }
  ~Folder() { EXPECT_TRUE(remove_tree(path).ok()); }
};

std::function<std::string()> line(std::string text) {
  return [text = std::move(text)] { return text; };
}

TEST(LineLog, adds_lines_in_order_and_follows_the_name) {
  const Folder folder;
  const std::string path = folder.path + "/log";
  auto log = open_line_log({.path = path});
  ASSERT_TRUE(log.ok());
  (*log)->append(1, line("a"));
  std::promise<void> written;
  (*log)->append(1, [&written] {
    written.set_value();
    return std::string("b");
  });
  base::await(written);
  log->reset();
  EXPECT_EQ(*read_file(path), "a\nb\n");
  log = open_line_log({.path = path});
  std::filesystem::rename(path, path + ".1");
  (*log)->reopen();
  (*log)->append(1, line("c"));
  log->reset();
  EXPECT_EQ(*read_file(path + ".1"), "a\nb\n");
  EXPECT_EQ(*read_file(path), "c\n");
  EXPECT_FALSE(open_line_log({.path = folder.path + "/none/log"}).ok());
}

TEST(LineLog, leaves_out_what_is_too_much_and_says_so_once) {
  const Folder folder;
  std::promise<void> begun, go;
  std::vector<std::string> problems;
  auto log = open_line_log(
      {.path = folder.path + "/log", .lines_max = 1, .bytes_max = 100, .on_problem = [&](const std::string& problem) {
         problems.push_back(problem);
       }});
  (*log)->append(1, [&] {
    begun.set_value();
    base::await(go);
    return std::string("a");
  });
  base::await(begun);
  (*log)->append(101, line("too large"));
  (*log)->append(1, line("b"));
  (*log)->append(1, line("too many"));
  go.set_value();
  log->reset();
  EXPECT_EQ(*read_file(folder.path + "/log"), "a\nb\n");
  EXPECT_EQ(problems, std::vector<std::string>{"2 lines are left out: too many wait for the disk"});
}

TEST(LineLog, nobody_waits_long_for_the_reader_of_a_pipe) {
  const Folder folder;
  const std::string path = folder.path + "/pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const auto unread = open_line_log({.path = path});
  ASSERT_FALSE(unread.ok());
  EXPECT_EQ(unread.error().message, "cannot open " + path + ": nobody reads this pipe");
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  std::vector<std::string> problems;
  auto log = open_line_log({.path = path, .on_problem = [&](const std::string& one) { problems.push_back(one); }});
  ASSERT_TRUE(log.ok());
  for (int i = 0; i < 100; ++i) (*log)->append(1, line(std::string(10'000, 'x')));
  log->reset();
  EXPECT_EQ(problems, std::vector{"cannot write to " + path + ": nobody reads this pipe fast enough"});
  ::close(reader);
}

TEST(LineLog, a_reader_that_takes_its_time_gets_everything) {
  const Folder folder;
  const std::string path = folder.path + "/pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  std::vector<std::string> problems;
  auto log = open_line_log({.path = path, .on_problem = [&](const std::string& one) { problems.push_back(one); }});
  ASSERT_TRUE(log.ok());
  for (int i = 0; i < 30; ++i) (*log)->append(1, line(std::string(9'999, 'x')));
  std::size_t got = 0;
  std::string piece(1 << 16, ' ');
  while (got < 300'000) {
    pollfd ready{.fd = reader, .events = POLLIN, .revents = 0};
    ASSERT_GT(::poll(&ready, 1, 10'000), 0);
    const ssize_t taken = ::read(reader, piece.data(), piece.size());
    ASSERT_GT(taken, 0);
    got += static_cast<std::size_t>(taken);
  }
  log->reset();
  EXPECT_EQ(got, 300'000u);
  EXPECT_TRUE(problems.empty());
  ::close(reader);
}

TEST(LineLog, a_full_disk_is_said_once) {
  std::vector<std::string> problems;
  auto log = open_line_log(
      {.path = "/dev/full", .on_problem = [&](const std::string& problem) { problems.push_back(problem); }});
  ASSERT_TRUE(log.ok());
  (*log)->append(1, line("a"));
  (*log)->append(1, line("b"));
  log->reset();
  EXPECT_EQ(problems, std::vector<std::string>{"cannot write to /dev/full: No space left on device"});
}

}  // namespace
}  // namespace rt
