// Operating errors as values. One vocabulary from the socket to the controller: the reasons of the
// Kubernetes Status object. `Result<T>` holds a T or an Error; TRY propagates.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"

namespace base {

enum class Code : std::uint8_t {
  kBadRequest,
  kDenied,  // by an admission rule: 400 without a reason, as the refusal of a webhook reads
  kUnauthorized,
  kForbidden,
  kNotFound,
  kMethodNotAllowed,
  kNotAcceptable,
  kAlreadyExists,
  kConflict,
  kExpired,
  kGone,
  kTooLarge,
  kUnsupportedMediaType,
  kInvalid,
  kTooManyRequests,
  kInternal,
  kUnavailable,
  kTimeout,
};

// The `reason` and the HTTP status `code` of a Kubernetes Status object.
std::string_view reason(Code code);
int http_status(Code code);
// The code a peer's Status stands for; an unknown reason falls back to the HTTP status.
Code code_for(std::string_view reason, int http_status);

// One problem of one field, as in `Status.details.causes`.
struct Cause {
  std::string reason;   // FieldValueInvalid, FieldValueRequired, ...
  std::string message;  // without the field path
  std::string field;    // spec.tasks[0].replicas

  bool operator==(const Cause&) const = default;
};

struct Error {
  Code code = Code::kInternal;
  std::string message;  // starts lower-case where it is ours, names the object and the value
  std::vector<Cause> causes = {};
  // The object that the request named, for Status.details; empty where none is meant.
  std::string group = {};
  std::string kind = {};
  std::string name = {};
  int retry_after_seconds = 0;  // 0: no hint
};

Error make_error(Code code, std::string message);

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }

  const T& value() const& {
    CHECK(ok());
    return *value_;
  }
  T& value() & {
    CHECK(ok());
    return *value_;
  }
  T&& value() && {
    CHECK(ok());
    return std::move(*value_);
  }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

  const Error& error() const {
    CHECK(!ok());
    return error_;
  }
  Error&& take_error() {
    CHECK(!ok());
    return std::move(error_);
  }

 private:
  std::optional<T> value_;
  Error error_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)), failed_(true) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return !failed_; }
  explicit operator bool() const { return ok(); }
  const Error& error() const {
    CHECK(failed_);
    return error_;
  }
  Error&& take_error() {
    CHECK(failed_);
    return std::move(error_);
  }

 private:
  Error error_;
  bool failed_ = false;
};

using Status = Result<void>;

// Adds where an error happened: `within(result.take_error(), "queue ml")` reads "queue ml: ...".
Error within(Error error, std::string_view where);

}  // namespace base

#define BASE_JOIN_(a, b) a##b
#define BASE_JOIN(a, b) BASE_JOIN_(a, b)

// TRY(declaration, expression): the value, or return the error to the caller.
#define TRY(declaration, ...)                                                                       \
  auto BASE_JOIN(try_result_, __LINE__) = (__VA_ARGS__);                                            \
  if (!BASE_JOIN(try_result_, __LINE__).ok()) return BASE_JOIN(try_result_, __LINE__).take_error(); \
  declaration = *std::move(BASE_JOIN(try_result_, __LINE__))

// TRY_VOID(expression): go on, or return the error to the caller.
#define TRY_VOID(...)                                                                      \
  do {                                                                                     \
    if (auto try_result = (__VA_ARGS__); !try_result.ok()) return try_result.take_error(); \
  } while (false)
