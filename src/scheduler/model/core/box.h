// How is something kept that most do not have? A pointer, null where it is missing, that copies what it holds.
#pragma once

#include <memory>
#include <utility>

namespace scheduler {

template <class Value>
class Box {
 public:
  Box() = default;
  Box(const Box& other) : value_(other ? std::make_unique<Value>(*other) : nullptr) {}
  Box(Box&&) noexcept = default;
  Box& operator=(const Box& other) {
    value_ = other ? std::make_unique<Value>(*other) : nullptr;
    return *this;
  }
  Box& operator=(Box&&) noexcept = default;
  Box& operator=(Value value) {
    value_ = std::make_unique<Value>(std::move(value));
    return *this;
  }

  explicit operator bool() const { return value_ != nullptr; }
  const Value& operator*() const { return *value_; }
  const Value* operator->() const { return value_.get(); }
  // The value, made when the box was empty.
  Value& edit() {
    if (!value_) value_ = std::make_unique<Value>();
    return *value_;
  }
  void reset() { value_.reset(); }

 private:
  std::unique_ptr<Value> value_;
};

}  // namespace scheduler
