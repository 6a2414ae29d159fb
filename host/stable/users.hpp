// A UserInfo as a bp_user, the type that plugins of the stable tier receive.
//
// Thread-safety: a value.
// Lifetime:      the UserInfo outlives it.
// Errors:        none.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <string>

#include "backplane/core/request.hpp"
#include "backplane/stable/security.h"
#include "stable/conversions.hpp"

namespace backplane::stable {

class SeenUser {
 public:
  explicit SeenUser(const UserInfo& user) : groups_(user.groups.size(), boost::container::default_init) {
    std::transform(user.groups.begin(), user.groups.end(), groups_.begin(), [](const std::string& group) { return str(group); });
    if (!user.extra.empty()) {
      Object extra;
      for (const auto& [key, values] : user.extra) extra[key] = Array(values.begin(), values.end());
      extra_ = to_json(extra);
    }
    table_ = {sizeof(bp_user), str(user.name), str(user.uid), groups_.data(), groups_.size(), str(extra_)};
  }
  SeenUser(const SeenUser&) = delete;
  SeenUser& operator=(const SeenUser&) = delete;
  const bp_user* table() const noexcept { return &table_; }

 private:
  static constexpr std::size_t kUsualGroups = 8;  // without an allocation
  boost::container::small_vector<bp_str, kUsualGroups> groups_;
  std::string extra_;
  bp_user table_{};
};

}  // namespace backplane::stable
