// Answers taken apart, converted and put together; watches one slice after the other.
#include "apiserver/pipeline/webhook_versions.h"

#include <utility>

#include "apiserver/kinds/workloads/scale.h"

namespace apiserver {

using api::Json;
using base::Result;

namespace {

// One answer on its way.
struct Reading {
  const CustomKind* kind;  // as which it is told
  std::shared_ptr<const void> holds;
  bool scale;
  Answer answer;
  Json whole;
  std::vector<Json> objects;
  bool is_list = false;

  // Any thread.
  void take_apart() {
    whole = object_of(answer);
    is_list = whole["items"].is_array();
    if (is_list)
      for (const Json& item : whole["items"].items()) objects.push_back(item);
    else if (whole["kind"].as_string() == kind->kind)
      objects.push_back(whole);
  }
  void put_together(std::vector<Json> converted) {
    answer.pieces.clear();
    if (!is_list) {
      if (!converted.empty()) whole = std::move(converted.front());
      answer.object = scale ? scale_of(*kind, whole) : std::move(whole);
      return;
    }
    Json items = Json::array();
    for (Json& one : converted) items.push_back(std::move(one));
    whole.set("apiVersion", kind->resource.api_version());
    whole.set("items", std::move(items));
    answer.object = Json();
    answer.pieces.push_back(std::make_shared<const std::string>(whole.dump()));
  }
};

class ConvertingWatch final : public ApiWatch {
 public:
  // The watch of the stored version; its sink knows `inner` as long as that is there.
  struct Inner : std::enable_shared_from_this<Inner> {
    Converter& converter;
    ConversionHookPtr hook;
    const CustomKind* kind;
    std::shared_ptr<const void> holds;
    WatchSink sink;
    std::unique_ptr<ApiWatch> watch;
    bool converting = false;
    bool ended = false;

    Inner(Converter& c, ConversionHookPtr h, const Request& request, WatchSink s)
        : converter(c),
          hook(std::move(h)),
          kind(custom_kind(*request.kind)),
          holds(request.holds_kind),
          sink(std::move(s)) {}

    bool begin(const WatchSlicePtr& slice) {
      converting = true;
      std::vector<Json> objects;
      for (const store::Event& event : slice->events) objects.push_back(event.object->json());
      // The kind may be an older one than the hook's, and this may go before the webhook answers.
      converter.convert(hook, *kind, std::move(objects),
                        [weak = weak_from_this(), slice, holds = holds](auto converted) {
                          if (const auto self = weak.lock()) self->converted(*slice, std::move(converted));
                        });
      return false;
    }

    void converted(const WatchSlice& slice, Result<std::vector<Json>> objects) {
      converting = false;
      if (ended) return;
      if (!objects.ok()) return end();
      auto converted_slice = std::make_shared<WatchSlice>();
      converted_slice->until = slice.until;
      for (std::size_t i = 0; i < slice.events.size(); ++i) {
        store::Event event = slice.events[i];
        auto made = std::make_shared<store::Object>(*event.object);
        made->bytes = (*objects)[i].dump();
        event.object = std::move(made);
        converted_slice->events.push_back(std::move(event));
      }
      if (sink.on_events(converted_slice) && !ended && watch && !watch->resume().ok()) end();
    }

    void end() {
      if (std::exchange(ended, true)) return;
      const auto on_end = sink.on_end;
      if (on_end) on_end();
    }
  };

  explicit ConvertingWatch(std::shared_ptr<Inner> inner) : inner_(std::move(inner)) {}
  ~ConvertingWatch() override {
    inner_->ended = true;
    inner_->watch.reset();
  }
  // A conversion under way goes on by itself.
  base::Status resume() override { return inner_->converting ? base::Status() : inner_->watch->resume(); }

 private:
  std::shared_ptr<Inner> inner_;
};

}  // namespace

Request in_stored_version(const Request& request, const ConversionHook& hook) {
  Request out = request;
  out.kind = hook.definition->stored_kind.get();
  out.holds_kind = hook.definition->stored_kind;
  return out;
}

OnAnswer converting(Converter& converter, SideWork& side_work, ConversionHookPtr hook, const Request& request,
                    OnAnswer on_answer) {
  return [&converter, &side_work, hook = std::move(hook), kind = custom_kind(*request.kind), holds = request.holds_kind,
          scale = request.subresource == "scale", on_answer = std::move(on_answer)](Result<Answer> answer) {
    if (!answer.ok() || answer->status >= 400) return on_answer(std::move(answer));
    auto reading = std::make_shared<Reading>();
    reading->kind = kind;
    reading->holds = holds;
    reading->scale = scale;
    reading->answer = *std::move(answer);
    side_work.run([reading] { reading->take_apart(); },
                  [&converter, &side_work, hook, reading, on_answer] {
                    converter.convert(hook, *reading->kind, std::exchange(reading->objects, {}),
                                      [&side_work, reading, on_answer](Result<std::vector<Json>> converted) {
                                        if (!converted.ok()) return on_answer(converted.take_error());
                                        reading->objects = *std::move(converted);
                                        side_work.run(
                                            [reading] { reading->put_together(std::exchange(reading->objects, {})); },
                                            [reading, on_answer] { on_answer(std::move(reading->answer)); });
                                      });
                  });
  };
}

Result<std::unique_ptr<ApiWatch>> open_converting_watch(
    Converter& converter, ConversionHookPtr hook, const Request& request, WatchSink sink,
    const std::function<Result<std::unique_ptr<ApiWatch>>(const Request&, WatchSink)>& open) {
  auto inner = std::make_shared<ConvertingWatch::Inner>(converter, hook, request, std::move(sink));
  WatchSink of_stored;
  of_stored.on_events = [weak = std::weak_ptr(inner)](const WatchSlicePtr& slice) {
    const auto self = weak.lock();
    return self ? self->begin(slice) : true;
  };
  of_stored.on_bookmark = [weak = std::weak_ptr(inner)](std::int64_t revision, bool initial_end) {
    if (const auto self = weak.lock()) self->sink.on_bookmark(revision, initial_end);
  };
  of_stored.on_end = [weak = std::weak_ptr(inner)] {
    if (const auto self = weak.lock()) self->end();
  };
  TRY(inner->watch, open(in_stored_version(request, *hook), std::move(of_stored)));
  return std::unique_ptr<ApiWatch>(std::make_unique<ConvertingWatch>(std::move(inner)));
}

}  // namespace apiserver
