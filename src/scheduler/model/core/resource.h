// How are amounts of resources named, stored, added and compared?
//
// The model counts in integers (Request, Sums), so that undoing is exact. Plugins that divide capacity between queues
// compute in doubles (Resource), as the formulas they implement do.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/schema/quantity.h"
#include "scheduler/model/core/ids.h"
#include "scheduler/model/core/optional_value.h"
#include "scheduler/model/core/symbols.h"

namespace scheduler {

// Names are kept for ever, and each has columns of all nodes. Beyond so many, those that only pods and groups name are
// one resource, which no node offers.
inline constexpr std::size_t kResourceNamesMax = 1024;
inline constexpr std::string_view kNoSuchResource = "volcano.sh/no-such-resource";

// Names of dimensions; 0 to 2 are fixed.
class Dimensions {
 public:
  Dimensions();
  Dim intern(std::string_view name) { return names_.intern(name).index; }
  const std::string& name(Dim dim) const { return names_.text(Symbol{dim}); }
  // The dimension of that name; nothing where no object has named it.
  std::optional<Dim> find(std::string_view name) const {
    const Symbol known = names_.find(name);
    return known.is_set() ? std::optional(known.index) : std::nullopt;
  }
  std::size_t size() const { return names_.size(); }
  // The dimension of a resource name, or nothing when the scheduler does not count it; that of kNoSuchResource for a
  // new name when there are kResourceNamesMax.
  std::optional<Dim> dim_of(std::string_view name);
  // Adds the names of nodes and queues, which administrators write: names with dimensions of their own, however many
  // there are.
  void know(const api::ResourceList& list);
  // Objects read from now on are not counted in this resource. The dimension that earlier ones were counted in; nothing
  // when there is none. Model::ignore_resource() takes those out as well.
  std::optional<Dim> ignore(std::string_view name);
  std::size_t ignored_count() const { return ignored_.size(); }
  // The stored amount of a quantity in that dimension.
  static std::int64_t amount_of(Dim dim, const api::Quantity& quantity);
  // The quantity that a stored amount stands for, for people and statuses.
  static api::Quantity quantity_of(Dim dim, double amount);

 private:
  Symbols names_;
  std::set<std::string, std::less<>> ignored_;
};

// True for names that Kubernetes lets a pod ask for besides cpu, memory, pods and ephemeral-storage.
bool is_scalar_resource_name(std::string_view name);

struct Part {
  Dim dim = 0;
  std::int64_t amount = 0;
  bool operator==(const Part&) const = default;
};

// The requests of one pod: cpu and memory first (also when zero), then the named scalars by ascending dimension.
struct Request {
  std::vector<Part> parts = {{kCpu, 0}, {kMemory, 0}};

  std::int64_t get(Dim dim) const;
  bool has(Dim dim) const;
  void add(Dim dim, std::int64_t amount);
  void erase(Dim dim);
  void set_max(const Request& other);
  void add(const Request& other);
  // True if it asks for nothing but pods.
  bool is_empty() const;
  bool operator==(const Request&) const = default;
};

// Sums over pods, by dimension; missing dimensions are zero. `count` says how many pods named the dimension, so that
// "absent" and "zero" stay apart.
class Sums {
 public:
  void add(const Request& request, std::int64_t sign) {
    for (const Part& part : request.parts) {
      if (part.dim < kOwn) {
        add_wrapping(own_[part.dim], sign * part.amount);
        if (part.dim == kPods) pods_count_ += static_cast<std::int32_t>(sign);
      } else {
        add_further(part, sign);
      }
    }
  }
  std::int64_t get(Dim dim) const {
    if (dim < kOwn) return own_[dim];
    return dim < size() ? (*further_)[dim - kOwn].amount : 0;
  }
  bool has(Dim dim) const {
    if (dim < kOwn) return dim < kPods || pods_count_ > 0;
    return dim < size() && (*further_)[dim - kOwn].count > 0;
  }
  std::size_t size() const { return further_ ? kOwn + further_->size() : kOwn; }
  void erase(Dim dim);  // one that is not fixed

 private:
  static constexpr Dim kOwn = 3;  // nearly every pod names cpu, memory and pods, and few name more
  struct Sum {
    std::int64_t amount = 0;
    std::int32_t count = 0;
  };
  // A thousand of the largest amounts are too much; the sum is right again when some have gone.
  static void add_wrapping(std::int64_t& sum, std::int64_t amount) { __builtin_add_overflow(sum, amount, &sum); }
  void add_further(const Part& part, std::int64_t sign);

  std::array<std::int64_t, kOwn> own_{};
  std::int32_t pods_count_ = 0;
  OptionalValue<std::vector<Sum>> further_;  // by dimension, from kOwn
};

// The meaning of a scalar that the right side of a comparison lacks.
enum class Missing : std::uint8_t { kZero, kInfinity };

// Amounts in doubles. A scalar (dimension 2 and up) can be absent, which is not the same as zero.
class Resource {
 public:
  Resource() = default;
  explicit Resource(const Request& request);
  explicit Resource(const Sums& sums);

  double get(Dim dim) const {
    if (dim < kOwn) return own_[dim];
    return dim < size() ? (*further_)[dim - kOwn].value : 0;
  }
  bool has(Dim dim) const {
    if (dim < kOwn) return dim < kPods || has_pods_;
    return dim < size() && (*further_)[dim - kOwn].present;
  }
  bool has_scalars() const;
  std::size_t size() const { return further_ ? kOwn + further_->size() : kOwn; }
  void set(Dim dim, double value);
  void erase(Dim dim);

  Resource& operator+=(const Resource& other);
  Resource& operator-=(const Resource& other);  // negative results are allowed
  Resource& operator*=(double factor);
  friend Resource operator+(Resource a, const Resource& b) { return a += b; }
  friend Resource operator-(Resource a, const Resource& b) { return a -= b; }
  // Lowers each dimension of this to the other's.
  void lower_to(const Resource& other, Missing missing);
  static Resource max(const Resource& a, const Resource& b);
  static Resource min(const Resource& a, const Resource& b);
  // The part of `a` beyond `b`, dimension by dimension.
  static Resource exceeded_part(const Resource& a, const Resource& b);

  bool is_empty() const;  // nothing but pods
  bool exactly_equals(const Resource& other) const;
  bool less_equal(const Resource& other, Missing missing) const;
  // Only the dimensions that `wanted` asks for, pods left out; strict. Failing dimensions are appended to `failing`.
  bool fits_wanted(const Resource& limit, const Resource& wanted, std::vector<Dim>* failing = nullptr) const;
  // Whether some dimension that `wanted` asks for (pods left out) is at most the limit.
  bool fits_some_wanted(const Resource& limit, const Resource& wanted) const;
  bool exceeds_some_wanted(const Resource& limit, const Resource& wanted) const;
  // Dimensions with a value of at least 0.1.
  std::vector<Dim> names() const;

 private:
  static constexpr Dim kOwn = 3;
  struct Scalar {
    double value = 0;
    bool present = false;
  };
  // The further dimensions, made as far as `size` needs them; all are absent at first.
  void reserve(std::size_t size);
  double& value(Dim dim) { return dim < kOwn ? own_[dim] : further_.edit()[dim - kOwn].value; }

  std::array<double, kOwn> own_{};
  bool has_pods_ = false;
  OptionalValue<std::vector<Scalar>> further_;  // by dimension, from kOwn
};

// The part that `used` is of `total`: all of nothing counts as everything.
inline double share_of(double used, double total) { return total == 0 ? (used == 0 ? 0 : 1) : used / total; }

constexpr double kResourceEpsilon = 0.1;

// A ResourceList of an object: what the scheduler counts of it, kept as integers.
Request request_from(const api::ResourceList& list, Dimensions& dimensions);
Resource resource_from(const api::ResourceList& list, Dimensions& dimensions);

}  // namespace scheduler
