// The terminal, or the file or pipe in its place, that output goes to.
#pragma once

namespace cli {

struct Terminal {
  bool is_one = false;  // otherwise a file or a pipe, which gets plain lines
  int columns = 80;
  int rows = 24;
  bool is_for_people = false;  // a table fits `columns`; otherwise it has the columns that scripts of Volcano cut
  bool has_colours = false;
};

}  // namespace cli
