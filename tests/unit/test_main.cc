// The main function of every program of unit tests: a test that leaves descriptors or threads behind fails, and names
// them.
#include <dirent.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <string>
#include <thread>

namespace {

constexpr auto kEndTime = std::chrono::seconds(5);  // for threads that end by themselves

// By number: what each descriptor leads to, and the name of each thread.
using Names = std::map<std::string, std::string>;

std::string read_link(const std::string& path) {
  char target[4096];
  const ssize_t size = ::readlink(path.c_str(), target, sizeof target);
  return size > 0 ? std::string(target, static_cast<std::size_t>(size)) : std::string();
}

std::string read_line(const std::string& path) {
  char line[256] = {};
  if (FILE* file = std::fopen(path.c_str(), "re")) {
    if (std::fgets(line, sizeof line, file) == nullptr) line[0] = '\0';
    std::fclose(file);
  }
  std::string text = line;
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

template <class Read>
Names entries_of(const std::string& folder, const Read& read) {
  Names names;
  DIR* open = ::opendir(folder.c_str());
  if (open == nullptr) return names;
  const std::string own = std::to_string(::dirfd(open));
  while (const dirent* entry = ::readdir(open))
    if (entry->d_name[0] != '.' && entry->d_name != own) names[entry->d_name] = read(folder + "/" + entry->d_name);
  ::closedir(open);
  return names;
}

Names descriptors() { return entries_of("/proc/self/fd", read_link); }
Names threads() {
  return entries_of("/proc/self/task", [](const std::string& path) { return read_line(path + "/comm"); });
}

// The entries of `after` that `before` has not.
std::string added(const Names& before, const Names& after) {
  std::string text;
  for (const auto& [number, name] : after)
    if (const auto found = before.find(number); found == before.end() || found->second != name)
      text += (text.empty() ? "" : ", ") + number + " (" + name + ")";
  return text;
}

class Leftovers final : public testing::EmptyTestEventListener {
 public:
  void OnTestStart(const testing::TestInfo&) override {
    descriptors_ = descriptors();
    threads_ = threads();
  }
  void OnTestEnd(const testing::TestInfo& test) override {
    if (test.result()->Failed() || test.result()->Skipped()) return;
    const auto until = std::chrono::steady_clock::now() + kEndTime;
    for (;;) {
      const std::string open = added(descriptors_, descriptors()), running = added(threads_, threads());
      if (open.empty() && running.empty()) return;
      if (std::chrono::steady_clock::now() > until) {
        ADD_FAILURE() << "the test leaves " << (open.empty() ? "" : "descriptors " + open)
                      << (open.empty() || running.empty() ? "" : ", and ")
                      << (running.empty() ? "" : "threads " + running);
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

 private:
  Names descriptors_, threads_;
};

}  // namespace

int main(int count, char** arguments) {
  testing::InitGoogleTest(&count, arguments);
  std::thread([] {}).join();  // with its first thread a program gets the one of the thread sanitizer
  testing::UnitTest::GetInstance()->listeners().Append(new Leftovers);
  return RUN_ALL_TESTS();
}
