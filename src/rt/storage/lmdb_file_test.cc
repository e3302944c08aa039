// Damage of every kind to a database's file is named before LMDB maps it, and what is readable can still be read.
#include "rt/storage/lmdb_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "base/random.h"
#include "rt/files/files.h"
#include "rt/storage/kv.h"

namespace rt {
namespace {

constexpr std::size_t kMapBytes = std::size_t{1} << 26;

struct Folder {
  std::string path = [] {
    char name[] = "/tmp/volcano-lmdb-XXXXXX";
    return std::string(mkdtemp(name));
  }();
  ~Folder() { [[maybe_unused]] const auto gone = remove_tree(path); }
  std::string db() const { return path + "/db"; }
  std::string file() const { return db() + "/data.mdb"; }
  std::string bytes() const { return *read_file(file()); }
  void set_bytes(const std::string& bytes) const { ASSERT_TRUE(write_file(file(), bytes, 0600).ok()); }
};

// Small and long values, some thousand of them, with free pages between.
std::map<std::string, std::string> fill(const Folder& folder) {
  std::map<std::string, std::string> all;
  auto kv = *open_lmdb(folder.db(), kMapBytes);
  for (int round = 0; round < 4; ++round)
    EXPECT_TRUE(kv->commit([&](KvWriter& writer) {
                    for (int i = 0; i < 500; ++i) {
                      const std::string key = "key-" + std::to_string(i);
                      if (round > 0 && (i + round) % 3 == 0) {
                        writer.erase(key);
                        all.erase(key);
                      } else {
                        all[key] = std::string(static_cast<std::size_t>(i % 50 == 0 ? 9000 : 40 + i), 'a' + round);
                        writer.put(key, all[key]);
                      }
                    }
                  }).ok());
  return all;
}

std::map<std::string, std::string> readable(const Folder& folder, LmdbCheck& check) {
  std::map<std::string, std::string> found;
  auto checked = check_lmdb_file(folder.file(), LmdbState::kNewest, [&](std::string_view key, std::string_view value) {
    found[std::string(key)] = value;
  });
  EXPECT_TRUE(checked.ok());
  check = *checked;
  return found;
}

TEST(LmdbFile, a_whole_file_has_no_problem_and_all_its_records) {
  Folder folder;
  const auto all = fill(folder);
  LmdbCheck check;
  EXPECT_EQ(readable(folder, check), all);
  EXPECT_EQ(check.problems, std::vector<std::string>());
  EXPECT_EQ(check.records, all.size());
}

TEST(LmdbFile, a_new_database_is_whole) {
  Folder folder;
  { auto kv = *open_lmdb(folder.db(), kMapBytes); }
  EXPECT_TRUE(check_lmdb_file(folder.file())->problems.empty());
  EXPECT_TRUE(open_lmdb(folder.db(), kMapBytes).ok());
}

TEST(LmdbFile, an_emptied_or_missing_file_is_no_new_database) {
  Folder folder;
  fill(folder);
  folder.set_bytes("");
  EXPECT_TRUE(check_lmdb_file(folder.file())->is_empty);
  auto opened = open_lmdb(folder.db(), kMapBytes);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().message.find("data.mdb is empty"), std::string::npos) << opened.error().message;
  EXPECT_EQ(folder.bytes(), "");
  std::filesystem::remove(folder.file());
  opened = open_lmdb(folder.db(), kMapBytes);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().message.find("data.mdb is missing"), std::string::npos) << opened.error().message;
  EXPECT_EQ(check_lmdb_file(folder.file()).error().code, base::Code::kNotFound);
}

TEST(LmdbFile, a_file_that_was_created_and_never_written_is_a_beginning) {
  Folder folder;
  ASSERT_TRUE(make_folders(folder.db(), 0700).ok());
  folder.set_bytes("");
  EXPECT_TRUE(open_lmdb(folder.db(), kMapBytes).ok());
}

TEST(LmdbFile, a_file_cut_short_is_refused_at_every_length) {
  Folder folder;
  const auto all = fill(folder);
  const std::string whole = folder.bytes();
  for (std::size_t size = 100; size < whole.size(); size += whole.size() / 37) {
    folder.set_bytes(whole.substr(0, size));
    LmdbCheck check;
    const auto found = readable(folder, check);
    const auto opened = open_lmdb(folder.db(), kMapBytes);
    // Free pages at the end may be missing; then nothing else may.
    if (opened.ok()) {
      EXPECT_EQ(found, all) << size;
    } else {
      EXPECT_NE(opened.error().message.find("is damaged"), std::string::npos) << opened.error().message;
    }
  }
}

TEST(LmdbFile, a_page_of_zeros_is_named_unless_nothing_needs_it) {
  Folder folder;
  const auto all = fill(folder);
  const std::string whole = folder.bytes();
  std::size_t named = 0;
  for (std::size_t page = 0; page < whole.size() / 4096; ++page) {
    std::string bytes = whole;
    bytes.replace(page * 4096, 4096, std::string(4096, '\0'));
    folder.set_bytes(bytes);
    LmdbCheck check;
    const auto found = readable(folder, check);
    // Without one of the headers the walk is through the state of the commit before.
    for (const auto& [key, value] : page < 2 ? std::map<std::string, std::string>() : found) {
      const auto at = all.find(key);
      ASSERT_TRUE(at != all.end() && (at->second == value || value.find('\0') != std::string::npos)) << key;
    }
    if (check.problems.empty())
      EXPECT_EQ(found.size(), all.size()) << page;
    else
      ++named;
  }
  EXPECT_GT(named, 20u);
}

// LMDB asserts that a tree of duplicates comes with what only a database that was opened so has.
TEST(LmdbFile, a_header_with_another_form_of_tree_is_refused) {
  Folder folder;
  fill(folder);
  const std::string whole = folder.bytes();
  for (const std::size_t flags_at : {16 + 24 + 4, 16 + 72 + 4})
    for (const char flag : {0x02, 0x04, 0x10, 0x20}) {
      std::string bytes = whole;
      for (const std::size_t page : {0u, 4096u})
        bytes[page + flags_at] = static_cast<char>(bytes[page + flags_at] ^ flag);
      folder.set_bytes(bytes);
      std::filesystem::remove(folder.db() + "/lock.mdb");
      EXPECT_FALSE(open_lmdb(folder.db(), kMapBytes).ok()) << flags_at << " " << static_cast<int>(flag);
    }
}

// Any change of single bytes leaves one of two outcomes: either the file is refused, or LMDB itself can read and write
// it.
TEST(LmdbFile, what_passes_can_be_opened_read_and_written) {
  Folder folder;
  fill(folder);
  const std::string whole = folder.bytes();
  base::Random random(7);
  std::size_t opened_count = 0;
  for (int round = 0; round < 100; ++round) {
    std::string bytes = whole;
    for (int i = 0; i < 1 + round % 4; ++i) {
      // Headers of pages and nodes are where damage does harm, so they are hit more often.
      std::size_t at = random.below(bytes.size());
      if (round % 3 != 0) at = at / 4096 * 4096 + random.below(64);
      bytes[at] = static_cast<char>(random.below(256));
    }
    folder.set_bytes(bytes);
    std::filesystem::remove(folder.db() + "/lock.mdb");
    auto kv = open_lmdb(folder.db(), kMapBytes);
    if (!kv.ok()) continue;
    ++opened_count;
    std::size_t seen = 0;
    ASSERT_TRUE((*kv)
                    ->scan("", "",
                           [&](std::string_view key, std::string_view value) {
                             seen += key.size() + value.size();
                             return true;
                           })
                    .ok());
    const auto status = (*kv)->commit([&](KvWriter& writer) {
      for (int i = 0; i < 50; ++i) writer.put("new-" + std::to_string(i), std::string(3000, 'n'));
      for (int i = 0; i < 500; i += 7) writer.erase("key-" + std::to_string(i));
    });
    ASSERT_TRUE(status.ok()) << status.error().message;
  }
  EXPECT_GT(opened_count, 10u);
}

TEST(LmdbFile, what_is_no_database_is_said_to_be_none) {
  Folder folder;
  ASSERT_TRUE(make_folders(folder.db(), 0700).ok());
  folder.set_bytes(std::string(50000, 'x'));
  const auto opened = open_lmdb(folder.db(), kMapBytes);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().message.find("does not begin as an LMDB file does"), std::string::npos)
      << opened.error().message;
  ASSERT_EQ(::mkfifo((folder.path + "/fifo").c_str(), 0600), 0);
  EXPECT_FALSE(check_lmdb_file(folder.path + "/fifo").ok());
  EXPECT_FALSE(check_lmdb_file(folder.path).ok());
}

}  // namespace
}  // namespace rt
