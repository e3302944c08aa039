// How does the model keep a text that it only reads again, in few bytes?
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace scheduler {

// A text that does not change: eight bytes where it stands, and a body that its copies share. An empty one has no body.
// Copies may be held on any thread.
class Text {
 public:
  Text() = default;
  explicit Text(std::string_view text) : body_(body_of(text)) {}
  Text(const Text& other) noexcept : body_(other.body_) {
    if (body_ != nullptr) body_->holders.fetch_add(1, std::memory_order_relaxed);
  }
  Text(Text&& other) noexcept : body_(std::exchange(other.body_, nullptr)) {}
  ~Text() { clear(); }
  Text& operator=(const Text& other) noexcept {
    Text copy(other);
    std::swap(body_, copy.body_);
    return *this;
  }
  Text& operator=(Text&& other) noexcept {
    std::swap(body_, other.body_);
    return *this;
  }
  Text& operator=(std::string_view text) {
    if (view() != text) *this = Text(text);
    return *this;
  }

  std::string_view view() const {
    return body_ == nullptr ? std::string_view()
                            : std::string_view(reinterpret_cast<const char*>(body_ + 1), body_->size);
  }
  operator std::string_view() const { return view(); }
  std::string str() const { return std::string(view()); }
  bool empty() const { return body_ == nullptr; }
  void prefetch() const { __builtin_prefetch(body_); }
  void clear() {
    if (body_ != nullptr && body_->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) free(body_);
    body_ = nullptr;
  }

  friend bool operator==(const Text& a, const Text& b) { return a.body_ == b.body_ || a.view() == b.view(); }
  friend bool operator==(const Text& a, std::string_view b) { return a.view() == b; }
  friend auto operator<=>(const Text& a, const Text& b) { return a.view() <=> b.view(); }

 private:
  struct Body {
    std::atomic<std::uint32_t> holders;
    std::uint32_t size;
    // The characters follow.
  };
  static Body* body_of(std::string_view text);
  static void free(Body* body);

  Body* body_ = nullptr;
};

// Lets texts that come again and again share one body: those seen last, in a fixed number of places.
class SharedTexts {
 public:
  Text share(std::string_view text) {
    if (text.empty()) return {};
    Text& place = places_[std::hash<std::string_view>{}(text) % kPlaces];
    if (place != text) place = Text(text);
    return place;
  }

 private:
  static constexpr std::size_t kPlaces = 1024;

  std::vector<Text> places_ = std::vector<Text>(kPlaces);
};

}  // namespace scheduler
