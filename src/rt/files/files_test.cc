// Files that strangers write: what is read of them, and that they can be taken away.
#include "rt/files/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rt/files/rooted_files.h"

namespace rt {
namespace {

struct Folder {
  std::string path;
  Folder() {
    char name[] = "/tmp/volcano-rt-test.XXXXXX";
    path = ::mkdtemp(name);
  }
  ~Folder() { EXPECT_TRUE(remove_tree(path).ok()); }
  std::string operator/(const std::string& name) const { return path + "/" + name; }
  void write(const std::string& name, const std::string& text) const {
    EXPECT_TRUE(write_file(path + "/" + name, text, 0644).ok());
  }
};

TEST(RootedFiles, ReadsRegularFilesUpToALimit) {
  const Folder folder;
  folder.write("a", "12345");
  EXPECT_EQ(*read_rooted_file({folder.path, "a"}, 5), "12345");
  EXPECT_EQ(read_rooted_file({folder.path, "a"}, 4).error().code, base::Code::kTooLarge);
  EXPECT_EQ(*read_rooted_tail({folder.path, "a"}, 2), "45");
  EXPECT_EQ(*read_rooted_tail({folder.path, "a"}, 20), "12345");
  EXPECT_EQ(read_rooted_file({folder.path, "b"}, 4).error().code, base::Code::kNotFound);
}

TEST(RootedFiles, OfAFileWithoutEndOnlyTheEndIsRead) {
  const Folder folder;
  folder.write("sparse", "x");
  ASSERT_EQ(::truncate((folder / "sparse").c_str(), off_t{9} << 30), 0);
  EXPECT_EQ(*read_rooted_tail({folder.path, "sparse"}, 3), std::string(3, '\0'));
  EXPECT_EQ(read_rooted_file({folder.path, "sparse"}, 1000).error().code, base::Code::kTooLarge);
}

TEST(RootedFiles, NothingButARegularFileIsOpened) {
  const Folder folder;
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0644), 0);
  ASSERT_EQ(::mkdir((folder / "folder").c_str(), 0755), 0);
  ASSERT_EQ(::symlink("fifo", (folder / "to-fifo").c_str()), 0);
  for (const char* name : {"fifo", "folder", "to-fifo"})
    EXPECT_EQ(read_rooted_file({folder.path, name}, 10).error().code, base::Code::kInvalid) << name;
}

TEST(RootedFiles, LinksStayInside) {
  const Folder folder;
  ASSERT_EQ(::mkdir((folder / "etc").c_str(), 0755), 0);
  folder.write("etc/hostname", "inside");
  ASSERT_EQ(::symlink("/etc/hostname", (folder / "absolute").c_str()), 0);
  ASSERT_EQ(::symlink("../../../../etc/hostname", (folder / "upwards").c_str()), 0);
  ASSERT_EQ(::symlink("/proc/self/environ", (folder / "magic").c_str()), 0);
  EXPECT_EQ(*read_rooted_file({folder.path, "absolute"}, 100), "inside");
  EXPECT_EQ(*read_rooted_file({folder.path, "upwards"}, 100), "inside");
  EXPECT_EQ(*read_rooted_file({folder.path, "/etc/../../etc/hostname"}, 100), "inside");
  EXPECT_EQ(read_rooted_file({folder.path, "magic"}, 100).error().code, base::Code::kNotFound);
}

TEST(RootedFiles, PlacesBelowAreMadeAndStayInside) {
  const Folder folder;
  const Folder outside;
  ASSERT_EQ(::symlink(outside.path.c_str(), (folder / "out").c_str()), 0);
  ASSERT_EQ(::mkdir((folder / "in").c_str(), 0755), 0);
  ASSERT_EQ(::symlink("in", (folder / "link").c_str()), 0);
  folder.write("file", "x");
  EXPECT_TRUE(open_below({folder.path, ""}).ok());
  EXPECT_TRUE(open_below({folder.path, "file"}).ok());
  EXPECT_TRUE(open_below({folder.path, "new/deep/er"}).ok());
  EXPECT_EQ(::access((folder / "new/deep/er").c_str(), F_OK), 0);
  EXPECT_TRUE(open_below({folder.path, "link/made"}).ok());
  EXPECT_EQ(::access((folder / "in/made").c_str(), F_OK), 0);
  for (const char* path : {"out", "out/new", "../x", "in/../../x", "file/x"})
    EXPECT_EQ(open_below({folder.path, path}).error().code, base::Code::kInvalid) << path;
  EXPECT_EQ(::access((outside / "new").c_str(), F_OK), -1);
}

TEST(RootedFiles, NewPlacesTakeTheModeAndTheGroupOfTheRoot) {
  const Folder folder;
  const mode_t mode = ::geteuid() == 0 ? 02770 : 0770;
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(folder.path.c_str(), 1000, 2000), 0);
  }
  ASSERT_EQ(::chmod(folder.path.c_str(), mode), 0);
  ASSERT_EQ(::mkdir((folder / "old").c_str(), 0711), 0);
  ASSERT_TRUE(open_below({folder.path, "old/new/deep"}).ok());
  struct stat root {
  }, facts{};
  ASSERT_EQ(::stat(folder.path.c_str(), &root), 0);
  for (const char* path : {"old/new", "old/new/deep"}) {
    ASSERT_EQ(::stat((folder / path).c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 07777, mode) << path;
    EXPECT_EQ(facts.st_gid, root.st_gid) << path;
    EXPECT_EQ(facts.st_uid, ::geteuid()) << path;
  }
  ASSERT_EQ(::stat((folder / "old").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0711u) << "a folder that was there stays as it is";
}

TEST(RemoveTree, TakesFoldersNestedDeeperThanDescriptorsLast) {
  const Folder folder;
  int at = ::open(folder.path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  for (int depth = 0; depth < 1000; ++depth) {
    ASSERT_EQ(::mkdirat(at, "d", depth % 7 == 0 ? 0111 : 0755), 0);
    const int next = ::openat(at, "d", O_PATH | O_DIRECTORY | O_CLOEXEC);
    ::close(at);
    at = next;
  }
  ::close(at);
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit few{64, before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &few);
  const base::Status removed = remove_tree(folder / "d");
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_TRUE(removed.ok());
  EXPECT_EQ(::access((folder / "d").c_str(), F_OK), -1);
}

TEST(RemoveTree, FollowsNoLinksAndTakesNamesOfItsOwnKind) {
  const Folder folder;
  const Folder outside;
  outside.write("keep", "x");
  ASSERT_TRUE(make_folders(folder / "tree/a/b/c", 0755).ok());
  ASSERT_TRUE(make_folders(folder / "tree/.removed-0/.removed-1/x", 0755).ok());
  ASSERT_EQ(::symlink(outside.path.c_str(), (folder / "tree/a/out").c_str()), 0);
  ASSERT_EQ(::mkfifo((folder / "tree/a/b/fifo").c_str(), 0000), 0);
  EXPECT_TRUE(remove_tree(folder / "tree").ok());
  EXPECT_EQ(::access((folder / "tree").c_str(), F_OK), -1);
  EXPECT_EQ(::access((outside / "keep").c_str(), F_OK), 0);
  ASSERT_EQ(::symlink(outside.path.c_str(), (folder / "link").c_str()), 0);
  EXPECT_TRUE(remove_tree(folder / "link").ok());
  EXPECT_EQ(::access((outside / "keep").c_str(), F_OK), 0);
  EXPECT_TRUE(remove_tree(folder / "gone/and/gone").ok());
}

}  // namespace
}  // namespace rt
