// Exchanges between the API and a browser: one that changes headers on the way, and one that keeps a short answer.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "rt/http/http.h"

namespace ui {

// How answers change on their way. Any thread.
struct Passing {
  std::function<rt::Headers(const rt::Headers&)> headers;
  // The answer that is sent in place of one that is whole; nothing: that one, with `headers`.
  std::function<std::optional<rt::HttpResponse>(const rt::HttpResponse&)> instead;
};
std::shared_ptr<rt::HttpExchange> passing_exchange(std::shared_ptr<rt::HttpExchange> inner, Passing passing);

// Calls back once with status and body (streams: of 8 MiB at the most). 502: it was not whole, or there was none when
// the exchange went. Any thread.
using OnKept = std::function<void(int status, std::string body)>;
std::shared_ptr<rt::HttpExchange> kept_answer(OnKept done);

}  // namespace ui
