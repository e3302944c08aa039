// The walk through an LMDB file: both meta pages, the tree of free pages, the tree of records.
#include "rt/storage/lmdb_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/format.h"

namespace rt {
namespace {

using base::Code;
using base::make_error;

constexpr std::uint32_t kMagic = 0xBEEFC0DE;
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kPageHeader = 16;
constexpr std::size_t kNodeHeader = 8;
constexpr std::uint16_t kBranch = 0x01, kLeaf = 0x02, kOverflow = 0x04, kMeta = 0x08;
constexpr std::uint16_t kBigData = 0x01;
constexpr std::uint64_t kNoPage = ~std::uint64_t{0};
constexpr int kDepthMax = 32;                                   // as LMDB's cursors
constexpr std::size_t kValueBytesMax = std::size_t{256} << 20;  // a size beyond is damage: no write is as large
constexpr std::uint64_t kPagesMax = (std::uint64_t{64} << 40) / 4096;

template <class T>
T read_at(std::string_view bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

constexpr std::uint16_t kIntegerKeys = 0x08;  // MDB_INTEGERKEY

struct Tree {
  std::uint16_t flags = 0;
  std::uint16_t depth = 0;
  std::uint64_t entries = 0;
  std::uint64_t root = kNoPage;
};

struct Meta {
  std::uint32_t page_bytes = 0;
  Tree free_pages;
  Tree records;
  std::uint64_t last_page = 0;
  std::uint64_t transaction = 0;
};

Tree read_tree(std::string_view bytes) {
  return {read_at<std::uint16_t>(bytes, 4), read_at<std::uint16_t>(bytes, 6), read_at<std::uint64_t>(bytes, 32),
          read_at<std::uint64_t>(bytes, 40)};
}

// The problem of a meta page, or empty.
std::string read_meta(std::string_view page, Meta& meta) {
  if (page.size() < kPageHeader + 136) return "is cut short";
  if (!(read_at<std::uint16_t>(page, 10) & kMeta)) return "is not marked as one";
  const std::string_view body = page.substr(kPageHeader);
  if (read_at<std::uint32_t>(body, 0) != kMagic) return "does not begin as an LMDB file does";
  if (const auto version = read_at<std::uint32_t>(body, 4); version != kVersion)
    return base::format("is of data version {}, not {}", version, kVersion);
  meta.page_bytes = read_at<std::uint32_t>(body, 24);
  meta.free_pages = read_tree(body.substr(24));
  meta.records = read_tree(body.substr(72));
  meta.last_page = read_at<std::uint64_t>(body, 120);
  meta.transaction = read_at<std::uint64_t>(body, 128);
  if (meta.page_bytes < 512 || meta.page_bytes > 65536 || (meta.page_bytes & (meta.page_bytes - 1)) != 0)
    return base::format("names a page size of {}", meta.page_bytes);
  // Their entries are sorted by number, and as bytes; LMDB asserts what other forms need.
  if (meta.free_pages.flags != kIntegerKeys || meta.records.flags != 0)
    return base::format("names trees of the forms {:#x} and {:#x}", meta.free_pages.flags, meta.records.flags);
  if (meta.last_page < 1 || meta.last_page > kPagesMax) return base::format("counts {} pages", meta.last_page);
  return {};
}

class Walk {
 public:
  using Visit = std::function<void(std::string_view, std::string_view)>;

  Walk(int file, std::uint64_t file_bytes, LmdbCheck& out) : file_(file), file_bytes_(file_bytes), out_(out) {}

  void run(LmdbState state, const Visit& visit) {
    if (!choose_meta(state)) return;
    out_.transaction = meta_.transaction;
    used_.assign(meta_.last_page + 1, false);
    used_[0] = used_[1] = true;
    walk_tree("free pages", meta_.free_pages, true,
              [this](std::string_view, std::string_view list) { free_lists_.emplace_back(list); });
    walk_tree("records", meta_.records, false, [this, &visit](std::string_view key, std::string_view value) {
      ++out_.records;
      if (visit) visit(key, value);
    });
    check_free_lists();
    if (unsaid_ > 0) out_.problems.push_back(base::format("and {} more", unsaid_));
  }

 private:
  void problem(std::string text) {
    if (out_.problems.size() < LmdbCheck::kProblemsMax)
      out_.problems.push_back(std::move(text));
    else
      ++unsaid_;
  }

  bool read(std::uint64_t offset, std::size_t size, std::string& into) const {
    if (offset > file_bytes_ || size > file_bytes_ - offset) return false;
    into.resize(size);
    std::size_t done = 0;
    while (done < size) {
      const ssize_t got = ::pread(file_, into.data() + done, size - done, static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      done += static_cast<std::size_t>(got);
    }
    return true;
  }

  // LMDB takes the meta page with the higher number and needs both to be whole.
  bool choose_meta(LmdbState state) {
    std::array<Meta, 2> metas;
    std::array<bool, 2> good{};
    // The second one lies a page further; the page size is in the first, or is this machine's.
    auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    for (std::size_t i = 0; i < 2; ++i) {
      std::string page;
      std::string why = "is cut short";
      if (read(i * page_bytes, kPageHeader + 136, page)) why = read_meta(page, metas[i]);
      good[i] = why.empty();
      if (!good[i]) problem(base::format("the header page {} {}", i, why));
      if (good[i]) page_bytes = metas[i].page_bytes;
    }
    if (good[0] && good[1] && metas[0].page_bytes != metas[1].page_bytes) {
      problem("the two header pages name different page sizes");
      return false;
    }
    if (!good[0] && !good[1]) return false;
    std::size_t at = !good[0] || (good[1] && metas[1].transaction > metas[0].transaction) ? 1 : 0;
    if (state == LmdbState::kPrevious && good[0] && good[1]) at = 1 - at;
    meta_ = metas[at];
    // Pages at the end that were never written are not in the file.
    meta_.last_page = std::max<std::uint64_t>(std::min(meta_.last_page, file_bytes_ / meta_.page_bytes), 1);
    return true;
  }

  // Notes that pages belong to one place; false (and a problem) where they cannot.
  bool take(const char* tree, std::uint64_t page, std::uint64_t count) {
    if (page < 2 || page > meta_.last_page || count > meta_.last_page - page + 1) {
      problem(base::format("the {} refer to page {}, which is not in the file", tree, page));
      return false;
    }
    for (std::uint64_t i = page; i < page + count; ++i) {
      if (used_[i]) {
        problem(base::format("page {} is used twice", i));
        return false;
      }
      used_[i] = true;
    }
    return true;
  }

  void walk_tree(const char* name, const Tree& tree, bool numbers, const Visit& visit) {
    if (tree.root == kNoPage) {
      if (tree.entries != 0) problem(base::format("the {} have no root but {} entries", name, tree.entries));
      return;
    }
    tree_ = name;
    numbers_ = numbers;
    entries_ = 0;
    last_key_.reset();
    const std::size_t problems = out_.problems.size() + unsaid_;
    if (tree.depth == 0 || tree.depth > kDepthMax)
      problem(base::format("the {} name a depth of {}", name, tree.depth));
    else
      walk_page(tree.root, tree.depth, visit);
    if (problems == out_.problems.size() + unsaid_ && entries_ != tree.entries)
      problem(base::format("the {} are {}, not {} as the header says", name, entries_, tree.entries));
  }

  void walk_page(std::uint64_t number, int levels, const Visit& visit) {
    if (!take(tree_, number, 1)) return;
    std::string page;
    if (!read(number * meta_.page_bytes, meta_.page_bytes, page))
      return problem(base::format("page {} of the {} is cut off", number, tree_));
    const std::uint16_t flags = read_at<std::uint16_t>(page, 10);
    const std::uint16_t wanted = levels == 1 ? kLeaf : kBranch;
    if (read_at<std::uint64_t>(page, 0) != number || (flags & 0x7F) != wanted)
      return problem(base::format("page {} of the {} is damaged", number, tree_));
    const std::size_t lower = read_at<std::uint16_t>(page, 12);
    const std::size_t upper = read_at<std::uint16_t>(page, 14);
    if (lower < kPageHeader || lower > upper || upper > page.size() || lower % 2 != 0)
      return problem(base::format("page {} of the {} has impossible bounds", number, tree_));
    const std::size_t count = (lower - kPageHeader) / 2;
    if (count < (levels == 1 ? 1u : 2u))
      return problem(base::format("page {} of the {} has only {} entries", number, tree_, count));
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = read_at<std::uint16_t>(page, kPageHeader + 2 * i);
      if (at < upper || at % 2 != 0 || at + kNodeHeader > page.size() ||
          read_at<std::uint16_t>(page, at + 6) > page.size() - at - kNodeHeader) {
        problem(base::format("entry {} of page {} of the {} lies outside of the page", i, number, tree_));
        continue;
      }
      const std::string_view node = std::string_view(page).substr(at);
      if (levels == 1)
        walk_record(node, number, visit);
      else
        walk_page(read_at<std::uint16_t>(node, 0) | std::uint64_t{read_at<std::uint16_t>(node, 2)} << 16 |
                      std::uint64_t{read_at<std::uint16_t>(node, 4)} << 32,
                  levels - 1, visit);
    }
  }

  void walk_record(std::string_view node, std::uint64_t page, const Visit& visit) {
    const std::uint32_t size = read_at<std::uint16_t>(node, 0) | std::uint32_t{read_at<std::uint16_t>(node, 2)} << 16;
    const std::uint16_t flags = read_at<std::uint16_t>(node, 4);
    const std::size_t key_size = read_at<std::uint16_t>(node, 6);
    const std::string_view key = node.substr(kNodeHeader, key_size);
    const std::string_view rest = node.substr(kNodeHeader + key_size);
    ++entries_;
    if (key.empty() || (numbers_ && key.size() != 8) || !in_order(key))
      return problem(base::format("page {} of the {} has a key out of order", page, tree_));
    last_key_ = std::string(key);
    if ((flags & ~kBigData) != 0)
      return problem(base::format("page {} of the {} has a record of an unknown form", page, tree_));
    if (flags & kBigData) {
      std::string value;
      if (rest.size() >= 8 && read_overflow(read_at<std::uint64_t>(rest, 0), size, value)) visit(key, value);
      return;
    }
    if (size > rest.size()) return problem(base::format("a record in page {} of the {} is cut off", page, tree_));
    visit(key, rest.substr(0, size));
  }

  bool in_order(std::string_view key) const {
    if (!last_key_) return true;
    if (numbers_) return read_at<std::uint64_t>(*last_key_, 0) < read_at<std::uint64_t>(key, 0);
    return *last_key_ < key;
  }

  bool read_overflow(std::uint64_t page, std::uint32_t size, std::string& value) {
    const std::uint64_t count = (kPageHeader - 1 + size) / meta_.page_bytes + 1;
    if (size > kValueBytesMax) {
      problem(base::format("a record in page {} is said to have {} bytes", page, size));
      return false;
    }
    if (!take(tree_, page, count)) return false;
    std::string header;
    if (!read(page * meta_.page_bytes, kPageHeader, header) || read_at<std::uint64_t>(header, 0) != page ||
        (read_at<std::uint16_t>(header, 10) & 0x7F) != kOverflow || read_at<std::uint32_t>(header, 12) != count ||
        !read(page * meta_.page_bytes + kPageHeader, size, value)) {
      problem(base::format("the long value in page {} is damaged", page));
      return false;
    }
    return true;
  }

  // A page that is free and used, or free twice, would be overwritten while something still needs it.
  void check_free_lists() {
    for (const std::string& list : free_lists_) {
      const std::uint64_t count = list.size() < 8 ? kNoPage : read_at<std::uint64_t>(list, 0);
      if (count > list.size() / 8 - 1) {
        problem("a list of free pages is cut off");
        continue;
      }
      std::uint64_t last = kNoPage;
      for (std::uint64_t i = 1; i <= count; ++i) {
        const auto page = read_at<std::uint64_t>(list, i * 8);
        // Pages behind the end of the file were allocated and given back before they were written.
        if (page < 2 || page >= last || (page <= meta_.last_page && used_[page])) {
          problem(base::format("the list of free pages names page {}", page));
          break;
        }
        if (page <= meta_.last_page) used_[page] = true;
        last = page;
      }
    }
  }

  int file_;
  std::uint64_t file_bytes_;
  LmdbCheck& out_;
  Meta meta_;
  std::vector<bool> used_;
  std::vector<std::string> free_lists_;
  std::size_t unsaid_ = 0;
  // The name of the tree that is walked now.
  const char* tree_ = "";
  bool numbers_ = false;  // keys are 64-bit numbers
  std::uint64_t entries_ = 0;
  std::optional<std::string> last_key_;
};

}  // namespace

base::Result<LmdbCheck> check_lmdb_file(const std::string& path, LmdbState state, const Walk::Visit& visit) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return make_error(errno == ENOENT ? Code::kNotFound : Code::kUnavailable,
                      base::format("cannot open {}: {}", path, std::strerror(errno)));
  struct stat facts {};
  LmdbCheck out;
  if (::fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode)) {
    ::close(file);
    return make_error(Code::kUnavailable, base::format("{} is not a file", path));
  }
  out.is_empty = facts.st_size == 0;
  if (!out.is_empty) Walk(file, static_cast<std::uint64_t>(facts.st_size), out).run(state, visit);
  ::close(file);
  return out;
}

}  // namespace rt
