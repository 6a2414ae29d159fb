// Keys of what a role allows: a subject with many roles finds by them the few that matter for a request.
//
// A key is a hash of one verb, group, resource and name of a rule, with "*" as any other text. A request has the keys under which a role
// that allows it must be. A key proves nothing: the rules of the roles found are compared.
//
// Thread-safety: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "rule_matcher.hpp"
#include "subject_index.hpp"

namespace backplane::rbac {

using AccessKey = std::uint64_t;

// Of a missing role and of roles with more than kMostAccessKeys: every request has it.
inline constexpr AccessKey kAlwaysKey = 1;
inline constexpr std::size_t kMostAccessKeys = 256;

// Without repetitions. `rules`: null for a missing role.
std::vector<AccessKey> access_keys(const RoleRulesBox* rules);

// The place of a subject's roles with that key.
inline std::uint64_t keyed_place(std::uint64_t place, AccessKey key) noexcept { return place_hash(place * 0xD6E8FEB86659FD93ULL, key); }

// The keys of one request.
class WantedKeys {
 public:
  explicit WantedKeys(const WantedAccess& wanted);
  const AccessKey* begin() const noexcept { return keys_.data(); }
  const AccessKey* end() const noexcept { return keys_.data() + count_; }

 private:
  std::array<AccessKey, 25> keys_;
  std::size_t count_ = 0;
};

}  // namespace backplane::rbac
