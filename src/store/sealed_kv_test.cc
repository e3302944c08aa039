// Secrets on the disk: what lies there, who can read it, and what keys that come and go do.
#include "store/sealed_kv.h"

#include <gtest/gtest.h>

#include "api/kinds.h"
#include "base/base64.h"
#include "client/fake_env_for_tests.h"
#include "store/store.h"

namespace store {
namespace {

using api::Json;

std::string line(const std::string& name, char fill) {
  return name + ":" + base::base64_encode(std::string(32, fill)) + "\n";
}
EncryptionKeys keys(const std::string& text) { return text.empty() ? EncryptionKeys() : *EncryptionKeys::parse(text); }

// A disk that outlives the stores on it.
struct Disk {
  std::shared_ptr<rt::KvStore> kv = rt::make_memory_kv();

  class View : public rt::KvStore {
   public:
    explicit View(std::shared_ptr<rt::KvStore> kv) : kv_(std::move(kv)) {}
    base::Status commit(const std::function<void(rt::KvWriter&)>& changes) override { return kv_->commit(changes); }
    base::Status scan(std::string_view begin, std::string_view end,
                      const std::function<bool(std::string_view, std::string_view)>& visit) const override {
      return kv_->scan(begin, end, visit);
    }

   private:
    std::shared_ptr<rt::KvStore> kv_;
  };
  SealedKv with(const std::string& text, SealedKv::Missing missing = SealedKv::Missing::kRefuse) const {
    return SealedKv(std::make_unique<View>(kv), keys(text), missing);
  }
  // How many records have these bytes in them.
  int holding(const std::string& bytes) const {
    int count = 0;
    (void)kv->scan("", "", [&](std::string_view, std::string_view value) {
      count += value.find(bytes) != std::string_view::npos;
      return true;
    });
    return count;
  }
  std::string value(const std::string& key) const {
    std::string found;
    (void)kv->scan(key, key + '\1', [&](std::string_view, std::string_view value) {
      found = value;
      return false;
    });
    return found;
  }
  void put(const std::string& key, const std::string& value) const {
    (void)kv->commit([&](rt::KvWriter& writer) { writer.put(key, value); });
  }
};

std::uint32_t table_of(const api::ResourceId& resource) {
  return static_cast<std::uint32_t>(api::find_kind(resource) - api::all_kinds().data());
}
std::uint32_t secrets() { return table_of(api::resources::kSecrets); }
std::uint32_t maps() { return table_of(api::resources::kConfigMaps); }

void write(rt::KvStore& kv, std::uint32_t table, const std::string& name, const std::string& text) {
  client::testing::FakeEnv env;
  const auto store = *Store::open(env, kv);
  bool written = false;
  store->put(table,
             Json::object({{"metadata", Json::object({{"namespace", "ml"}, {"name", name}, {"uid", name}})},
                           {"data", Json::object({{"v", text}})}}),
             [&](base::Result<ObjectPtr> result) { written = result.ok(); });
  env.settle();
  EXPECT_TRUE(written);
}

std::string read(rt::KvStore& kv, std::uint32_t table, const std::string& name) {
  client::testing::FakeEnv env;
  const auto store = Store::open(env, kv);
  if (!store.ok()) return store.error().message;
  if (!(*store)->broken().empty()) return (*store)->broken().front().what + ": " + (*store)->broken().front().why;
  const ObjectPtr object = (*store)->find(table, "ml", name, View::kDurable);
  return object ? object->json()["data"]["v"].str() : "none";
}

std::string key_of(const std::string& name) {
  std::string key = "o/secrets";
  for (const std::string& part : {std::string("ml"), name}) key += '\0' + part;
  return key;
}

TEST(SealedKv, secrets_are_not_readable_on_the_disk_and_nothing_else_changes) {
  const Disk disk;
  SealedKv kv = disk.with(line("a", 'a'));
  write(kv, secrets(), "db", "hunter2");
  write(kv, maps(), "db", "settings");
  EXPECT_EQ(disk.holding("hunter2"), 0);
  EXPECT_EQ(disk.holding("volcano:enc:aes-256-gcm:v1:a:"), 2) << "the object and its history";
  EXPECT_EQ(disk.holding("settings"), 2);
  EXPECT_EQ(read(kv, secrets(), "db"), "hunter2");
  EXPECT_EQ(read(kv, maps(), "db"), "settings");
  client::testing::FakeEnv env;
  const auto store = *Store::open(env, kv);
  EXPECT_EQ(store->missed(secrets(), 1, SIZE_MAX)->events.at(0).object->json()["data"]["v"].as_string(), "hunter2");
}

TEST(SealedKv, a_key_that_is_missing_is_named_and_nothing_is_lost) {
  const Disk disk;
  SealedKv first = disk.with(line("a", 'a'));
  write(first, secrets(), "db", "hunter2");
  SealedKv none = disk.with(""), other = disk.with(line("b", 'b')), same_name = disk.with(line("a", 'x'));
  const std::string refused =
      "secrets ml/db is encrypted with the key \"a\", which --encryption-key-file does not have; nothing was changed";
  EXPECT_EQ(read(none, secrets(), "db"), refused);
  EXPECT_EQ(read(other, secrets(), "db"), refused);
  EXPECT_EQ(read(same_name, secrets(), "db"),
            "secrets ml/db is encrypted with another key \"a\" than the one of that name in --encryption-key-file; "
            "nothing was changed");
  EXPECT_EQ(read(first, secrets(), "db"), "hunter2");
  SealedKv over = disk.with("", SealedKv::Missing::kPassOver);
  EXPECT_EQ(read(over, secrets(), "db"), "none");
  EXPECT_EQ(*over.passed_over(), 2u);
  EXPECT_EQ(*first.passed_over(), 0u);
}

TEST(SealedKv, keys_change_in_turns) {
  const Disk disk;
  SealedKv plain = disk.with("");
  write(plain, secrets(), "old", "hunter2");
  EXPECT_EQ(disk.holding("hunter2"), 2);
  SealedKv first = disk.with(line("a", 'a'));
  EXPECT_EQ(read(first, secrets(), "old"), "hunter2") << "plain objects stay readable";
  ASSERT_TRUE(first.seal_all().ok());
  EXPECT_EQ(disk.holding("hunter2"), 0);
  SealedKv both = disk.with(line("b", 'b') + line("a", 'a'));
  write(both, secrets(), "new", "hunter3");
  EXPECT_EQ(disk.holding(":v1:a:"), 2);
  EXPECT_EQ(read(both, secrets(), "old"), "hunter2");
  ASSERT_TRUE(both.seal_all().ok());
  EXPECT_EQ(disk.holding(":v1:a:"), 0);
  SealedKv second = disk.with(line("b", 'b'));
  EXPECT_EQ(read(second, secrets(), "old") + read(second, secrets(), "new"), "hunter2hunter3");
  SealedKv leaving = disk.with("identity\n" + line("b", 'b'));
  ASSERT_TRUE(leaving.seal_all().ok());
  EXPECT_EQ(read(plain, secrets(), "old") + read(plain, secrets(), "new"), "hunter2hunter3");
}

TEST(SealedKv, many_records_are_sealed_in_several_commits) {
  const Disk disk;
  for (int i = 0; i < 700; ++i) {
    std::string key = key_of("s" + std::to_string(i));
    disk.put(key, std::string(8, '\1') + "hunter2");
  }
  SealedKv kv = disk.with(line("a", 'a'));
  ASSERT_TRUE(kv.seal_all().ok());
  EXPECT_EQ(disk.holding("hunter2"), 0);
  EXPECT_EQ(disk.holding(":v1:a:"), 700);
}

TEST(SealedKv, a_record_that_was_moved_or_damaged_is_set_aside_alone) {
  const Disk disk;
  SealedKv kv = disk.with(line("a", 'a'));
  write(kv, secrets(), "db", "hunter2");
  write(kv, secrets(), "mine", "nothing");
  const std::string good = disk.value(key_of("mine"));
  const std::string why = "secrets ml/mine: it is encrypted, and damaged or moved here from another record";
  disk.put(key_of("mine"), disk.value(key_of("db")));
  EXPECT_EQ(read(kv, secrets(), "db"), why);
  // Every byte of the text: none is read as a missing key, and none as another Secret.
  for (std::size_t at = 8; at < good.size(); ++at) {
    std::string bent = good;
    bent[at] = static_cast<char>(bent[at] ^ 1);
    disk.put(key_of("mine"), bent);
    const std::string problem = read(kv, secrets(), "db");
    EXPECT_TRUE(problem.starts_with("secrets ml/mine: ")) << at << ": " << problem;
  }
  std::string later = good;
  later[7] = static_cast<char>(later[7] + 1);
  disk.put(key_of("mine"), later);
  EXPECT_EQ(read(kv, secrets(), "db"), why) << "another revision";
  ASSERT_TRUE(kv.seal_all().ok());
  EXPECT_EQ(disk.value(key_of("mine")), later);
  disk.put(key_of("mine"), good);
  EXPECT_EQ(read(kv, secrets(), "mine"), "nothing");
}

TEST(EncryptionKeys, bad_files_are_refused_without_telling_a_key) {
  const std::string good = line("a", 'a');
  const struct {
    std::string text, why;
  } cases[] = {
      {"", "it has no key (a line NAME:KEY)"},
      {"# nothing\n\n", "it has no key (a line NAME:KEY)"},
      {good + good, "line 2: the name \"a\" is there twice"},
      {"c2VjcmV0\n", "line 1: it is not a NAME:KEY with a name of at most 63 letters, digits, '.', '_' and '-'"},
      {"a b:c2VjcmV0\n", "line 1: it is not a NAME:KEY with a name of at most 63 letters, digits, '.', '_' and '-'"},
      {"\n" + std::string(64, 'n') + ":c2VjcmV0\n",
       "line 2: it is not a NAME:KEY with a name of at most 63 letters, digits, '.', '_' and '-'"},
      {"a:c2VjcmV0\n", "line 1: the key \"a\" has 6 bytes; AES-256 needs 32"},
      {"a:$ecret\n", "line 1: the key \"a\" is not valid base64"},
      {"identity:c2VjcmV0\n", "line 1: the name \"identity\" means plain text, and has no key"},
  };
  for (const auto& [text, why] : cases) {
    const auto parsed = EncryptionKeys::parse(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.error().message, why);
  }
  const auto parsed = EncryptionKeys::parse("# keys\r\n\r\n  " + good.substr(0, good.size() - 1) + "\r\nidentity\n");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  ASSERT_NE(parsed->writing(), nullptr);
  EXPECT_EQ(parsed->writing()->bytes, std::string(32, 'a'));
}

}  // namespace
}  // namespace store
