// Sessions of people with a browser: a code that a terminal shows becomes, once, the value of a cookie. Both are sealed
// texts, so that the server keeps only the codes that were used.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace ui {

inline constexpr base::Duration kCodeLife = base::minutes(60);
inline constexpr base::Duration kSessionLife = base::hours(12);

// The user as whom the page acts.
struct Visitor {
  std::string name;
  std::vector<std::string> groups = {};
  std::string uid = {};
  std::string token = {};  // with which requests are made as this user; empty: the server knows its users itself
};

struct Session {
  Visitor visitor;
  std::string proof;  // goes with every request that changes something; other sites cannot read it
  base::Time until{};
};

class Sessions {
 public:
  // `secret`: a text that only this server knows. Sessions and codes end when it changes. `purpose`: those of another
  // one do not count. `code_life`: how long a code is good.
  explicit Sessions(std::string_view secret, std::string_view purpose = "volcano page",
                    base::Duration code_life = kCodeLife);

  // A code for redeem(). Any thread.
  std::string make_code(const Visitor& visitor, base::Time now) const;
  // The cookie of a new session. kUnauthorized for a code that is not ours, too old, or was used. Loop thread only.
  base::Result<std::string> redeem(std::string_view code, base::Time now);
  // The cookie of a session that ends at `until`, or after kSessionLife. Any thread.
  std::string make_session(const Visitor& visitor, base::Time now, base::Time until) const;
  // The session of a cookie; kUnauthorized for one that is not ours, or over. Any thread.
  base::Result<Session> read(std::string_view cookie, base::Time now) const;

 private:
  std::string sealed(const Visitor& visitor, base::Time until, std::string_view use) const;
  base::Result<Session> opened(std::string_view text, base::Time now, std::string_view use) const;

  const std::string key_, code_use_, session_use_;
  const base::Duration code_life_;
  std::map<std::string, base::Time, std::less<>> used_;  // codes, until they are too old anyway
};

}  // namespace ui
