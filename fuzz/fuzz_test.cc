// A short run of every target without a fuzzer: the corpus, and inputs changed by chance from a fixed seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/random.h"
#include "targets.h"

namespace fuzz {
namespace {

std::vector<std::string> corpus_of(std::string_view name) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(std::string("fuzz/corpus/") + std::string(name)))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<std::string> inputs;
  for (const auto& file : files) {
    std::ifstream stream(file, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  return inputs;
}

// One small change: a byte, a piece gone, a piece twice, a piece of another input.
void change(std::string& input, const std::vector<std::string>& corpus, base::Random& dice) {
  const std::size_t at = input.empty() ? 0 : dice.below(input.size());
  const std::size_t length = 1 + dice.below(8);
  switch (dice.below(5)) {
    case 0:
      if (!input.empty()) input[at] = static_cast<char>(dice.below(256));
      break;
    case 1: input.erase(at, length); break;
    case 2: input.insert(at, input.substr(at, length)); break;
    case 3: {
      static constexpr std::string_view kOften = "{}[]\":,'-0129eE+.\\/%&=?#*! \n\t\r\0~kMGi";
      input.insert(at, 1, kOften[dice.below(kOften.size())]);
      break;
    }
    default: {
      const std::string& other = corpus[dice.below(corpus.size())];
      const std::size_t from = other.empty() ? 0 : dice.below(other.size());
      input.insert(at, other.substr(from, length * 4));
    }
  }
}

void run(std::string_view name, int rounds) {
  const Target* target = find_target(name);
  ASSERT_NE(target, nullptr);
  const std::vector<std::string> corpus = corpus_of(name);
  ASSERT_FALSE(corpus.empty()) << "fuzz/corpus/" << name << " is empty";
  for (const std::string& input : corpus) target->run(input);
  base::Random dice(20240101);
  for (int round = 0; round < rounds; ++round) {
    std::string input = corpus[dice.below(corpus.size())];
    for (std::uint64_t changes = 1 + dice.below(6); changes > 0; --changes) change(input, corpus, dice);
    target->run(input);
  }
}

// A fuzzer calls a target millions of times, so that targets of servers keep theirs for the life of the process. They
// are there before the first test, which then leaves none behind.
class KeptServers final : public testing::Environment {
 public:
  void SetUp() override {
    for (const char* name : {"http", "connection"}) find_target(name)->run("");
  }
};
const auto* const kKeptServers = testing::AddGlobalTestEnvironment(new KeptServers);

TEST(Fuzz, json_round_trips) { run("json", 50'000); }
TEST(Fuzz, cbor_round_trips) { run("cbor", 50'000); }
TEST(Fuzz, protobuf_round_trips) { run("protobuf", 30'000); }
TEST(Fuzz, yaml_round_trips) { run("yaml", 30'000); }
TEST(Fuzz, quantities_round_trip) { run("quantity", 100'000); }
TEST(Fuzz, words_of_a_command_line_are_read_or_refused) { run("shell_words", 20'000); }
TEST(Fuzz, discoveries_are_read_or_refused) { run("discovery", 20'000); }
TEST(Fuzz, selectors_are_read_or_refused) { run("selector", 20'000); }
TEST(Fuzz, schedules_are_due_in_order) { run("cron", 10'000); }
TEST(Fuzz, workflows_come_to_an_end) { run("workflow", 20'000); }
TEST(Fuzz, files_of_control_groups_give_figures_in_range) { run("colocation", 10'000); }
TEST(Fuzz, patches_are_applied_or_refused) { run("patch", 30'000); }
TEST(Fuzz, patches_keep_to_their_limits) { run("patch_limits", 30'000); }
TEST(Fuzz, plugins_say_text) { run("plugins", 20'000); }
TEST(Fuzz, devices_are_shared_or_refused) { run("devices", 3'000); }
TEST(Fuzz, expressions_end) { run("cel", 30'000); }
TEST(Fuzz, policies_are_judged_or_refused) { run("policies", 5'000); }
TEST(Fuzz, requests_are_routed_or_refused) { run("route", 30'000); }
TEST(Fuzz, writes_are_answered) { run("writes", 2'000); }
TEST(Fuzz, the_http_server_survives_any_bytes) { run("http", 500); }
TEST(Fuzz, a_session_of_http2_survives_any_client) { run("http2_server", 30'000); }
TEST(Fuzz, grpc_survives_any_peer) { run("grpc", 30'000); }
TEST(Fuzz, the_http_server_survives_any_sequence) { run("connection", 300); }
TEST(Fuzz, any_keys_serve_with_tls_or_not_at_all) { run("keys", 300); }
TEST(Fuzz, definitions_of_worlds_are_read_or_refused) { run("definition", 20'000); }
TEST(Fuzz, any_configuration_of_the_scheduler_runs_or_is_refused) { run("scheduler_config", 20'000); }
TEST(Fuzz, any_sharing_of_nodes_keeps_its_limits_or_is_refused) { run("sharding", 20'000); }
TEST(Fuzz, any_arguments_of_plugins_run) { run("plugin_arguments", 40'000); }
TEST(Fuzz, any_objects_can_be_scheduled) { run("scheduler_objects", 10'000); }
TEST(Fuzz, a_damaged_database_is_refused_or_served) { run("database", 200); }
TEST(Fuzz, what_containers_leave_is_text) { run("termination", 10'000); }
TEST(Fuzz, what_images_say_makes_a_container_or_is_refused) { run("image", 20'000); }
TEST(FuzzDeathTest, the_canary_is_noticed) {
  EXPECT_DEATH(find_target("canary")->run("a cat"), "broken promise: the canary");
}

}  // namespace
}  // namespace fuzz
