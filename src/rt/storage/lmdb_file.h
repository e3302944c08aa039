// Whether the data file of an LMDB environment is whole, and what can be read of one that is not.
//
// LMDB maps its file and believes every byte of it: a file cut short ends the process with SIGBUS, a damaged page with
// an assertion, and an empty one is taken for a new environment. So the file is read once, bounded, before it is
// opened. The layout is that of data version 1 (lmdb.h 0.9) with the page size and byte order of this machine.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace rt {

struct LmdbCheck {
  bool is_empty = false;                   // a file of no bytes: created, and nothing ever written
  std::uint64_t transaction = 0;           // of the state that was looked at
  std::uint64_t records = 0;               // that could be read
  std::vector<std::string> problems = {};  // none: the file is whole. At most kProblemsMax, then a count.
  static constexpr std::size_t kProblemsMax = 20;
};

// The newest committed state, or the one before it: what a damaged newest one can be exchanged for.
enum class LmdbState : std::uint8_t { kNewest, kPrevious };

// Walks the file `path`. `visit`, if given, is called for each record in undamaged parts, in key order; its views are
// valid during the call. Memory: a page for each level, a bit a page, and one value. Errors: kNotFound, or the file
// cannot be read at all; damage is not an error but a problem.
base::Result<LmdbCheck> check_lmdb_file(const std::string& path, LmdbState state = LmdbState::kNewest,
                                        const std::function<void(std::string_view, std::string_view)>& visit = {});

}  // namespace rt
