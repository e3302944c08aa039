// How do many hold one value that few of them change?
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace scheduler {

// Null, or a value that copies share until one is edited. One thread.
template <class Value>
class Shared {
 public:
  Shared() = default;
  explicit Shared(Value value) : value_(std::make_shared<Value>(std::move(value))) {}

  explicit operator bool() const { return value_ != nullptr; }
  const Value& operator*() const { return *value_; }
  const Value* operator->() const { return value_.get(); }
  // A value of its own, made when it held nothing.
  Value& edit() {
    if (!value_)
      value_ = std::make_shared<Value>();
    else if (value_.use_count() != 1)
      value_ = std::make_shared<Value>(*value_);
    return *value_;
  }

 private:
  std::shared_ptr<Value> value_;
};

// Lets values that come again and again be one: those seen last, in a fixed number of places.
template <class Value>
class SharedValues {
 public:
  // `digest` is equal for equal values.
  Shared<Value> share(Value value, std::uint64_t digest) {
    Shared<Value>& place = places_[digest % kPlaces];
    if (!place || !(*place == value)) place = Shared<Value>(std::move(value));
    return place;
  }

 private:
  static constexpr std::size_t kPlaces = 1021;  // digests are odd

  std::vector<Shared<Value>> places_ = std::vector<Shared<Value>>(kPlaces);
};

}  // namespace scheduler
