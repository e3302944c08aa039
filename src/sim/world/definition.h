// The text that describes a world: which parts, workloads, faults and checks it has.
//
// TOML with the tables [world], [[workload]], [[fault]] and [[check]], whose keys have a string, a number, a boolean or
// an array of those. An array of two numbers or durations is a range: the seed chooses.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "base/random.h"
#include "base/result.h"
#include "base/time.h"

namespace sim {

// The keys of one table. Readers note which keys were asked for, so that a misspelt one is found.
class Settings {
 public:
  Settings(std::string table, int line) : table_(std::move(table)), line_(line) {}

  void add(const std::string& key, api::Json value, int line);

  // Each reader returns the fallback for an absent key. A value that does not fit is remembered as a problem.
  std::string text(const std::string& key, std::string_view fallback);
  std::int64_t number(const std::string& key, std::int64_t fallback, base::Random& dice);
  double fraction(const std::string& key, double fallback, base::Random& dice);  // 0 to 1
  base::Duration span(const std::string& key, base::Duration fallback, base::Random& dice);
  bool flag(const std::string& key, bool fallback);
  std::vector<std::string> words(const std::string& key, std::vector<std::string> fallback);
  // Words of which one is drawn: there is one at least.
  std::vector<std::string> some_words(const std::string& key, std::vector<std::string> fallback);
  // Each of the words is one of these.
  std::vector<std::string> known_words(const std::string& key, const std::vector<std::string>& known);
  std::string one_of(const std::string& key, std::string_view fallback, const std::vector<std::string>& known);
  std::string quantity(const std::string& key, std::string_view fallback);  // "16", "64Gi"
  // "5/s", "30/m", "100/h": the time between two.
  base::Duration interval(const std::string& key, base::Duration fallback);
  // Both ends of a range that is drawn from again and again; a single number is both.
  struct Range {
    std::int64_t min = 0;
    std::int64_t max = 0;
    std::int64_t draw(base::Random& dice) const {
      return min + static_cast<std::int64_t>(
                       dice.below(static_cast<std::uint64_t>(max) - static_cast<std::uint64_t>(min) + 1));
    }
  };
  Range range(const std::string& key, Range fallback);
  // The same of durations, in nanoseconds.
  Range span_range(const std::string& key, Range fallback);
  // Between what is done again and again: a millisecond at least, or time would stand still.
  Range pause_range(const std::string& key, Range fallback);

  // "line 12: workload: ..." for the first thing that did not fit, or a key that nobody asked for.
  base::Status finish() const;
  const std::string& table() const { return table_; }
  int line() const { return line_; }

 private:
  struct Value {
    api::Json json;
    int line;
  };
  const Value* find(const std::string& key);
  void problem(const Value& value, const std::string& key, std::string_view wanted);

  std::string table_;
  int line_;
  std::map<std::string, Value> values_;
  std::set<std::string> asked_;
  std::string problem_;
};

struct Definition {
  Settings world{"world", 0};
  std::vector<Settings> workloads;
  std::vector<Settings> faults;
  std::vector<Settings> checks;
};

// Errors name the line.
base::Result<Definition> parse_definition(std::string_view text);

}  // namespace sim
