// Deletion of many objects without holding the loop.
#include "apiserver/pipeline/write/collection.h"

#include <optional>

#include "apiserver/pipeline/read/list.h"
#include "apiserver/pipeline/write/off_loop_writes.h"

namespace apiserver {

using base::Result;

namespace {

constexpr std::size_t kTurnMax = 32;        // deletions that one turn begins
constexpr std::size_t kUnderWayMax = 1024;  // that wait for the disk
// Deletions of large objects are decided beside the loop, where few find room at a time: a collection takes a quarter.
constexpr std::size_t kLargeMax = 16;

struct Deletion : std::enable_shared_from_this<Deletion> {
  rt::Env& env;
  Request request;
  std::function<void(Request, OnAnswer)> write;
  OnAnswer on_answer;
  Page page = {};
  std::size_t next = 0;
  std::size_t under_way = 0;
  std::size_t large_under_way = 0;
  bool turn_comes = false;
  std::optional<base::Error> first_error = {};

  Deletion(rt::Env& e, Request r, std::function<void(Request, OnAnswer)> w, OnAnswer a)
      : env(e), request(std::move(r)), write(std::move(w)), on_answer(std::move(a)) {}

  void turn() {
    for (std::size_t begun = 0; begun < kTurnMax && has_room(); ++begun) {
      const store::Object& object = *page.objects[next++];
      const bool large = object.bytes.size() > kLongBytes;
      Request one = request;
      one.verb = Verb::kDelete;
      one.ns = object.ns;
      one.name = object.name;
      ++under_way;
      large_under_way += large ? 1 : 0;
      write(std::move(one), [self = shared_from_this(), large](Result<Answer> answer) {
        self->large_under_way -= large ? 1 : 0;
        self->ended(std::move(answer));
      });
    }
    go_on();
  }

  // For the next one.
  bool has_room() const {
    return next < page.objects.size() && under_way < kUnderWayMax &&
           (large_under_way < kLargeMax || page.objects[next]->bytes.size() <= kLongBytes);
  }

  void ended(Result<Answer> answer) {
    --under_way;
    if (answer.ok())
      if (auto refusal = refusal_in(*answer)) answer = *std::move(refusal);
    if (!answer.ok() && answer.error().code != base::Code::kNotFound && !first_error) first_error = answer.take_error();
    go_on();
  }

  void go_on() {
    if (turn_comes) return;
    if (next < page.objects.size()) {
      if (!has_room()) return;
      turn_comes = true;
      return env.loop().post([self = shared_from_this()] {
        self->turn_comes = false;
        self->turn();
      });
    }
    if (under_way > 0) return;
    auto answer_to = std::exchange(on_answer, nullptr);
    if (!answer_to) return;
    if (first_error) return answer_to(*std::move(first_error));
    answer_to(answer_for(*request.kind, page));
  }
};

}  // namespace

void delete_collection(rt::Env& env, SideWork& side_work, const store::Store& store, Request request,
                       std::function<void(Request, OnAnswer)> write, OnAnswer on_answer) {
  auto deletion = std::make_shared<Deletion>(env, request, std::move(write), std::move(on_answer));
  select_objects(side_work, store, std::move(request), [deletion](Result<Page> page) {
    if (!page.ok()) return deletion->on_answer(page.take_error());
    deletion->page = *std::move(page);
    deletion->turn();
  });
}

}  // namespace apiserver
