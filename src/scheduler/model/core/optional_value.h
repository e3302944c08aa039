// How is something kept that most do not have? A pointer, null where it is missing, that copies what it holds.
#pragma once

#include <memory>
#include <utility>

namespace scheduler {

template <class Value>
class OptionalValue {
 public:
  OptionalValue() = default;
  OptionalValue(const OptionalValue& other) : value_(other ? std::make_unique<Value>(*other) : nullptr) {}
  OptionalValue(OptionalValue&&) noexcept = default;
  OptionalValue& operator=(const OptionalValue& other) {
    value_ = other ? std::make_unique<Value>(*other) : nullptr;
    return *this;
  }
  OptionalValue& operator=(OptionalValue&&) noexcept = default;
  OptionalValue& operator=(Value value) {
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
