// Which members of an object does somebody read? A parser that is told builds only those: the rest is looked at for its
// syntax and costs nothing more.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"

namespace api {

// Immutable once made; shared between threads.
class Projection {
 public:
  // Paths such as "spec.containers.resources": what stands at their end is kept whole, and lists are passed through.
  // "metadata.*" keeps what no other path says of metadata's members, "-metadata.managedFields" drops one.
  // "status.conditions[type=A|B]" keeps of a list the objects of which a member is one of these texts.
  explicit Projection(std::initializer_list<std::string_view> paths);
  // The document around: its own members are kept, and `member` (an object, or a list of them) is read by `inner`.
  // `inner` outlives it.
  static Projection around(std::string_view member, const Projection& inner);

  struct Choice {
    bool keep = false;
    const Projection* inner = nullptr;  // null: whole
  };
  Choice choose(std::string_view member) const;
  // The items that are kept of a list that this projection is chosen for.
  struct Items {
    std::string member;               // empty: all
    std::vector<std::string> values;  // of that member

    bool takes(std::string_view value) const;
  };
  const Items& items() const { return items_; }
  // The number of this projection and its copies, and of no other that this process ever makes; never 0.
  std::uint64_t number() const { return number_; }
  // Whether members without a row are kept, too.
  bool names_all() const { return others_; }
  // How many members it names.
  std::size_t size() const { return rows_.size(); }

 private:
  struct Row {
    std::string member;
    bool keep = true;
    std::shared_ptr<Projection> inner;     // below it; null with outer null: whole
    const Projection* borrowed = nullptr;  // of around()
  };
  Projection() = default;
  static std::uint64_t next_number();
  void add(std::string_view path, bool keep);
  void choose_items(std::string_view wanted);
  Row& row(std::string_view member);

  std::uint64_t number_ = next_number();
  std::vector<Row> rows_;
  bool others_ = false;  // members without a row are kept
  Items items_;
};

base::Result<Json> parse_json(std::string_view text, const Projection& only);
// The projection that `choose` names for the object's apiVersion and kind; null: whole.
using ChooseProjection = std::function<const Projection*(std::string_view api_version, std::string_view kind)>;
base::Result<Json> parse_json(std::string_view text, const ChooseProjection& choose);

}  // namespace api
