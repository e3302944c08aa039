// Many writers count up a few shared objects: read, add one, write with the version that was read.
//
// In the end each count lies between the increments that were acknowledged and those that may have been carried out.
#include <charconv>

#include "base/format.h"
#include "client/client.h"
#include "sim/workloads/all.h"
#include "sim/world/env.h"
#include "sim/world/person_calls.h"

namespace sim {

using api::Json;

namespace {

struct Count {
  std::int64_t acknowledged = 0;
  std::int64_t unheard = 0;  // answered by an outage: carried out or not
};

class Counters final : public Workload {
 public:
  Counters(World& world, Settings& settings, base::Random& dice)
      : world_(world),
        dice_(dice.next()),
        writers_(settings.number("writers", 8, dice)),
        pause_(settings.pause_range("pause", {10'000'000, 500'000'000})),
        counts_(static_cast<std::size_t>(std::max<std::int64_t>(settings.number("objects", 3, dice), 1))) {}

  void start() override {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      people_.push_back(world_.make_person(base::format("counter-{}", i)));
      // "default" is made while we ask.
      people_[i]->env->loop().after(base::seconds(1), [this, i] { make_count(i); });
    }
    for (std::int64_t i = 0; i < writers_; ++i) {
      people_.push_back(world_.make_person(base::format("writer-{}", i)));
      turn(*people_.back());
    }
  }
  void stop() override { stopped_ = true; }

  bool done() const override {
    if (open_ > 0) return false;
    if (!checked_) verify();
    checked_ = true;
    return true;
  }

 private:
  void make_count(std::size_t index) {
    client::Request request{.verb = client::Verb::kCreate, .resource = api::resources::kConfigMaps, .ns = "default"};
    request.body = Json::object(
        {{"metadata", Json::object({{"name", name_of_count(index)}})}, {"data", Json::object({{"count", "0"}})}});
    ask_until_answered(*people_[index], std::move(request), [this, index](base::Result<Json> result, int) {
      if (!result.ok() && result.error().code != base::Code::kAlreadyExists)
        people_[index]->env->loop().after(base::seconds(1), [this, index] { make_count(index); });
    });
  }

  static std::string name_of_count(std::size_t index) { return base::format("count-{}", index); }

  void turn(Person& person) {
    person.env->loop().after({pause_.draw(dice_)}, [this, &person] {
      if (stopped_) return;
      ++open_;
      const std::size_t index = dice_.below(counts_.size());
      client::Request request{.verb = client::Verb::kGet,
                              .resource = api::resources::kConfigMaps,
                              .ns = "default",
                              .name = name_of_count(index)};
      person.client->call(std::move(request), [this, &person, index](base::Result<Json> result) {
        if (result.ok()) return add_one(person, index, *result);
        --open_;
        turn(person);
      });
    });
  }

  static std::int64_t value_of(const Json& object) {
    const std::string_view text = object["data"]["count"].as_string();
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }

  void add_one(Person& person, std::size_t index, Json object) {
    object.edit("data").set("count", std::to_string(value_of(object) + 1));
    client::Request request{.verb = client::Verb::kUpdate,
                            .resource = api::resources::kConfigMaps,
                            .ns = "default",
                            .name = name_of_count(index)};
    request.body = std::move(object);
    person.client->call(std::move(request), [this, &person, index](base::Result<Json> result) {
      if (result.ok())
        ++counts_[index].acknowledged;
      else if (result.error().code != base::Code::kConflict && result.error().code != base::Code::kNotFound)
        ++counts_[index].unheard;
      --open_;
      turn(person);
    });
  }

  void verify() const {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      const Json* object = world_.truth().find(api::resources::kConfigMaps, "default/" + name_of_count(i));
      const std::int64_t value = object ? value_of(*object) : -1;
      const Count& count = counts_[i];
      if (value < count.acknowledged || value > count.acknowledged + count.unheard)
        world_.chronicle().violation(
            "counters", base::format("{} is {}, with {} increments acknowledged and {} unheard of", name_of_count(i),
                                     value, count.acknowledged, count.unheard));
      world_.chronicle().record(base::format("{} is {}: {} acknowledged, {} unheard of", name_of_count(i), value,
                                             count.acknowledged, count.unheard));
    }
  }

  World& world_;
  base::Random dice_;
  std::int64_t writers_;
  Settings::Range pause_;
  std::vector<Count> counts_;
  std::vector<std::unique_ptr<Person>> people_;
  int open_ = 0;
  bool stopped_ = false;
  mutable bool checked_ = false;
};

}  // namespace

std::unique_ptr<Workload> make_counters(World& world, Settings& settings, base::Random& dice) {
  return std::make_unique<Counters>(world, settings, dice);
}

}  // namespace sim
