// The durable map: order, atomicity, reopening, the lock. And small files, digests, keys.
#include "rt/storage/kv.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>

#include "base/format.h"
#include "base/split.h"
#include "rt/files/files.h"
#include "rt/tls/tls.h"

namespace rt {
namespace {

struct Folder {
  std::string path = [] {
    char name[] = "/tmp/volcano-kv-XXXXXX";
    return std::string(mkdtemp(name));
  }();
  ~Folder() { [[maybe_unused]] const auto gone = remove_tree(path); }
};

std::string all(const KvStore& kv, std::string_view begin, std::string_view end) {
  std::string out;
  EXPECT_TRUE(kv.scan(begin, end, [&](std::string_view key, std::string_view value) {
                  out.append(key).append("=").append(value).append(" ");
                  return true;
                }).ok());
  return out;
}

void fill(KvStore& kv) {
  ASSERT_TRUE(kv.commit([](KvWriter& w) {
                  w.put("b", "2");
                  w.put("a", "1");
                  w.put("c", "3");
                }).ok());
  ASSERT_TRUE(kv.commit([](KvWriter& w) {
                  w.erase("b");
                  w.erase("nothing");
                  w.put("a", "9");
                }).ok());
}

TEST(Kv, both_kinds_keep_order_and_ranges) {
  Folder folder;
  auto lmdb = *open_lmdb(folder.path + "/db", 1 << 24);
  auto memory = make_memory_kv();
  for (KvStore* kv : {lmdb.get(), memory.get()}) {
    fill(*kv);
    EXPECT_EQ(all(*kv, "", ""), "a=9 c=3 ");
    EXPECT_EQ(all(*kv, "b", ""), "c=3 ");
    EXPECT_EQ(all(*kv, "a", "c"), "a=9 ");
  }
}

TEST(Kv, what_was_committed_is_there_after_reopening) {
  Folder folder;
  {
    auto kv = *open_lmdb(folder.path + "/db", 1 << 24);
    fill(*kv);
    const auto second = open_lmdb(folder.path + "/db", 1 << 24);
    ASSERT_FALSE(second.ok());
    EXPECT_NE(second.error().message.find(folder.path + "/db"), std::string::npos);
  }
  EXPECT_EQ(all(**open_lmdb(folder.path + "/db", 1 << 24), "", ""), "a=9 c=3 ");
}

// The pages of the file in the memory that counts as this process's.
std::size_t resident_kib(const std::string& path) {
  const auto text = read_file("/proc/self/smaps");
  EXPECT_TRUE(text.ok());
  std::size_t kib = 0;
  bool ours = false;
  for (const std::string_view line : base::split(*text, '\n')) {
    if (line.find('-') != std::string_view::npos && line.find(' ') > 8 && line.find(':') != 4)
      ours = line.ends_with(path);
    if (ours && line.starts_with("Rss:")) kib += std::stoul(std::string(line.substr(4)));
  }
  return kib;
}

TEST(Kv, what_was_read_is_not_held) {
  Folder folder;
  const auto kv = *open_lmdb(folder.path + "/db", std::size_t{64} << 20);
  const auto write = [&kv](char first) {
    return kv->commit([first](KvWriter& w) {
      for (int i = 0; i < 2000; ++i) w.put(first + std::to_string(i), std::string(3000, first));
    });
  };
  for (const char first : {'a', 'b', 'c'}) ASSERT_TRUE(write(first).ok());
  EXPECT_EQ(all(*kv, "", "").size() > 18'000'000, true);
  EXPECT_LT(resident_kib("/db/data.mdb"), 2000u) << "of 18 MB";
  EXPECT_EQ(all(*kv, "a1999", "a2").size(), 3000u + 7) << "and is there when it is asked for";
}

// Pages go once a second at most, so that deletions are made until they have gone.
TEST(Kv, deletions_let_pages_go_too) {
  Folder folder;
  const auto kv = *open_lmdb(folder.path + "/db", std::size_t{64} << 20);
  const auto key = [](int i) { return base::format("a{:05}", i); };
  ASSERT_TRUE(kv->commit_with_reserve([&](KvWriter& w) {
                  for (int i = 0; i < 12'000; ++i) w.put(key(i), std::string(1000, 'a'));
                }).ok());
  ASSERT_TRUE(kv->commit_with_reserve([&](KvWriter& w) {
                  for (int i = 0; i < 12'000; ++i) w.erase(key(i));
                }).ok());
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (resident_kib("/db/data.mdb") >= 1000 && std::chrono::steady_clock::now() < end)
    ASSERT_TRUE(kv->commit_with_reserve([&](KvWriter& w) { w.erase(key(0)); }).ok());
  EXPECT_LT(resident_kib("/db/data.mdb"), 1000u) << "of 12 MB";
}

TEST(Kv, a_full_map_refuses_the_whole_commit) {
  Folder folder;
  auto kv = *open_lmdb(folder.path + "/db", 1 << 16);
  fill(*kv);
  const auto status = kv->commit([](KvWriter& w) {
    w.put("small", "1");
    for (int i = 0; i < 100; ++i) w.put("k" + std::to_string(i), std::string(2000, 'x'));
  });
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, base::Code::kUnavailable);
  EXPECT_EQ(all(*kv, "", ""), "a=9 c=3 ");
}

TEST(Kv, deletions_go_through_when_the_map_is_full) {
  Folder folder;
  auto kv = *open_lmdb(folder.path + "/db", 1 << 18);
  const auto put = [&](int i) {
    return kv->commit([&](KvWriter& w) { w.put("k" + std::to_string(i), std::string(3000, 'x')); });
  };
  int written = 0;
  base::Status status;
  while ((status = put(written)).ok()) ++written;
  EXPECT_NE(status.error().message.find("--storage-gib"), std::string::npos) << status.error().message;
  EXPECT_GT(written, 10);
  for (int i = 0; i < written; ++i) {
    const auto gone = kv->commit_with_reserve([&](KvWriter& w) {
      w.erase("k" + std::to_string(i));
      w.put("history" + std::to_string(i), std::string(3000, 'h'));
    });
    ASSERT_TRUE(gone.ok()) << i << ": " << gone.error().message;
  }
  EXPECT_TRUE(kv->commit_with_reserve([&](KvWriter& w) {
                  for (int i = 0; i < written; ++i) w.erase("history" + std::to_string(i));
                }).ok());
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(put(i).ok()) << i;
}

TEST(Files, are_written_whole_with_their_mode) {
  Folder folder;
  ASSERT_TRUE(write_file(folder.path + "/f", "one", 0600).ok());
  ASSERT_TRUE(write_file(folder.path + "/f", "two", 0600).ok());
  EXPECT_EQ(*read_file(folder.path + "/f"), "two");
  EXPECT_EQ(read_file(folder.path + "/nothing").error().code, base::Code::kNotFound);
  EXPECT_NE(write_file(folder.path + "/no/f", "x", 0600).error().message.find(folder.path + "/no/f"),
            std::string::npos);
}

TEST(Tls, digests_and_tokens) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(secure_token(16).size(), 32u);
}

TEST(Tls, a_p521_key_follows_from_what_it_is_made_of) {
  const std::string chance(80, 'x');
  const auto key = make_p521_ssh_key(chance);
  ASSERT_TRUE(key.ok()) << key.error().message;
  EXPECT_TRUE(key->private_pem.starts_with("-----BEGIN EC PRIVATE KEY-----\n"));
  EXPECT_TRUE(key->public_line.starts_with("ecdsa-sha2-nistp521 AAAAE2VjZHNhLXNoYTItbmlzdHA1MjE"));
  EXPECT_EQ(make_p521_ssh_key(chance)->private_pem, key->private_pem);
  EXPECT_NE(make_p521_ssh_key(std::string(80, 'y'))->public_line, key->public_line);
}

TEST(Tls, an_ssh_key_is_in_the_forms_openssh_reads) {
  const auto key = make_rsa_ssh_key(2048);
  ASSERT_TRUE(key.ok());
  EXPECT_TRUE(key->private_pem.starts_with("-----BEGIN RSA PRIVATE KEY-----"));
  EXPECT_TRUE(key->public_line.starts_with("ssh-rsa AAAAB3NzaC1yc2E"));
}

}  // namespace
}  // namespace rt
