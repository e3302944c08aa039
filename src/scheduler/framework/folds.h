// How do the answers of several plugins to one question become one answer?
//
// A fold gets the answers' callables in the order of the configuration, with their tiers. It calls only as many as it
// needs. Each fold also says what holds when nobody answers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/framework/votes.h"

namespace scheduler {

template <class Signature>
struct Answer {
  std::function<Signature> call;
  int tier = 0;
  int plugin = 0;             // position in the configuration
  bool starts_afresh = true;  // TierIntersection only: after an intersection that became empty
};
template <class Signature>
using Answers = std::vector<Answer<Signature>>;

// The first answer that is not zero; 0 when all are.
struct FirstNonZero {
  using Result = int;
  template <class S, class... A>
  static int fold(const Answers<S>& answers, const A&... args) {
    for (const auto& answer : answers) {
      if (const int order = answer.call(args...); order != 0) return order;
    }
    return 0;
  }
};

// Each answer is a rank, and who has the smaller one comes first: -1, 0 or 1 for a pair. The ranks of one are appended
// to `out` where the pairs are many.
struct SmallestFirst {
  template <class S, class Ranked>
  static int fold(const Answers<S>& answers, const Ranked& a, const Ranked& b) {
    for (const auto& answer : answers) {
      const std::int64_t left = answer.call(a), right = answer.call(b);
      if (left != right) return left < right ? -1 : 1;
    }
    return 0;
  }
  template <class S, class Ranked>
  static void fold(const Answers<S>& answers, const Ranked& one, std::vector<std::int64_t>* out) {
    for (const auto& answer : answers) out->push_back(answer.call(one));
  }
};

// True unless somebody says no.
struct All {
  using Result = bool;
  template <class S, class... A>
  static bool fold(const Answers<S>& answers, const A&... args) {
    for (const auto& answer : answers) {
      if (!answer.call(args...)) return false;
    }
    return true;
  }
};

// True when somebody says yes.
struct Any {
  using Result = bool;
  template <class S, class... A>
  static bool fold(const Answers<S>& answers, const A&... args) {
    for (const auto& answer : answers) {
      if (answer.call(args...)) return true;
    }
    return false;
  }
};

// The first problem; nothing when there is none.
struct FirstFailure {
  template <class S, class... A>
  static auto fold(const Answers<S>& answers, const A&... args) {
    using Failure = typename std::function<S>::result_type;
    for (const auto& answer : answers) {
      if (Failure failure = answer.call(args...)) return failure;
    }
    return Failure{};
  }
};

// A rejection anywhere is no; a tier with a permit ends it with yes; nobody cares: yes.
struct TierVote {
  template <class S, class... A>
  static bool fold(const Answers<S>& answers, const A&... args) {
    bool permitted = false;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const Vote vote = answers[i].call(args...);
      if (vote == Vote::kReject) return false;
      permitted |= vote == Vote::kPermit;
      const bool tier_ends = i + 1 == answers.size() || answers[i + 1].tier != answers[i].tier;
      if (tier_ends && permitted) return true;
    }
    return true;
  }
};

// The first tier that answers decides: all of it must agree. Nobody answers: false.
struct TierAll {
  template <class S, class... A>
  static bool fold(const Answers<S>& answers, const A&... args) {
    for (std::size_t i = 0; i < answers.size() && answers[i].tier == answers[0].tier; ++i) {
      if (!answers[i].call(args...)) return false;
    }
    return !answers.empty();
  }
};

// The first tier that decides: the intersection of its lists (spec/scheduler 4.4; an intersection that becomes empty
// starts afresh with the next plugin of the tier).
// COMPAT(victim-intersection): the fresh start is kept because victims of existing clusters depend on it; it can be
// switched off, and then an empty intersection stays empty for the rest of its tier.
struct TierIntersection {
  template <class S, class... A>
  static auto fold(const Answers<S>& answers, const A&... args) {
    using Chosen = typename std::function<S>::result_type;
    std::optional<decltype(Chosen{}.tasks)> victims;
    bool skip_tier = false;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (!skip_tier) {
        Chosen chosen = answers[i].call(args...);
        if (chosen.vote != Vote::kAbstain) {
          if (chosen.tasks.empty()) {
            victims.reset();
            skip_tier = true;
          } else if (!victims) {
            victims = std::move(chosen.tasks);
          } else {
            std::erase_if(*victims, [&](const auto& task) { return !contains(chosen.tasks, task); });
            if (victims->empty() && answers[i].starts_afresh) victims.reset();
          }
        }
      }
      const bool tier_ends = i + 1 == answers.size() || answers[i + 1].tier != answers[i].tier;
      if (!tier_ends) continue;
      if (victims && !victims->empty()) return *victims;
      victims.reset();
      skip_tier = false;
    }
    return decltype(Chosen{}.tasks){};
  }

 private:
  template <class List, class Item>
  static bool contains(const List& list, const Item& item) {
    for (const auto& one : list) {
      if (one == item) return true;
    }
    return false;
  }
};

// The first tier that finds anything: the union of its lists, each item once.
struct TierUnion {
  template <class S, class... A>
  static auto fold(const Answers<S>& answers, const A&... args) {
    typename std::function<S>::result_type out;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      for (const auto& item : answers[i].call(args...)) {
        bool known = false;
        for (const auto& one : out) known |= one == item;
        if (!known) out.push_back(item);
      }
      const bool tier_ends = i + 1 == answers.size() || answers[i + 1].tier != answers[i].tier;
      if (tier_ends && !out.empty()) return out;
    }
    return out;
  }
};

// Everybody's contribution, in order; the caller combines them (filters one after the other, scores by their sum).
struct Collect {
  template <class S, class... A>
  static auto fold(const Answers<S>& answers, const A&... args) {
    std::vector<typename std::function<S>::result_type> out;
    for (const auto& answer : answers) {
      if (auto one = answer.call(args...)) out.push_back(std::move(one));
    }
    return out;
  }
};

// One number out of all answers: classes with different answers must not be mixed up.
struct Mix {
  template <class S, class... A>
  static std::uint32_t fold(const Answers<S>& answers, const A&... args) {
    std::uint32_t out = 0;
    for (const auto& answer : answers) out = out * 0x9e3779b1u + answer.call(args...);
    return out;
  }
};

// The first plugin that registered, whatever it says.
struct FirstRegistered {
  template <class S, class... A>
  static auto fold(const Answers<S>& answers, const A&... args) {
    using Found = typename std::function<S>::result_type;
    return answers.empty() ? std::optional<Found>() : std::optional<Found>(answers[0].call(args...));
  }
};

// The largest answer, 0 at least.
struct Most {
  template <class S, class... A>
  static std::int32_t fold(const Answers<S>& answers, const A&... args) {
    std::int32_t out = 0;
    for (const auto& answer : answers) out = std::max(out, answer.call(args...));
    return out;
  }
};

// Lists of numbers, added up place by place; nobody answers: empty.
struct SumLists {
  template <class S, class... A>
  static auto fold(const Answers<S>& answers, const A&... args) {
    typename std::function<S>::result_type out;
    for (const auto& answer : answers) {
      const auto list = answer.call(args...);
      if (out.size() < list.size()) out.resize(list.size());
      for (std::size_t i = 0; i < list.size(); ++i) out[i] += list[i];
    }
    return out;
  }
};

struct NotifyAll {
  template <class S, class... A>
  static void fold(const Answers<S>& answers, const A&... args) {
    for (const auto& answer : answers) answer.call(args...);
  }
};

}  // namespace scheduler
