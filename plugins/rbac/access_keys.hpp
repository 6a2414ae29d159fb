// Index keys of roles. For a subject with many roles, they select the few roles that may allow a request.
//
// A key is a hash of one verb, group, resource and name of a rule; "*" is hashed like any other text. A role that allows a request has at
// least one of the request's keys. The converse is not true, so the rules of the roles found are still compared.
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

// The key of missing roles and of roles with more than kMostAccessKeys keys; every request has it, too.
inline constexpr AccessKey kAlwaysKey = 1;
inline constexpr std::size_t kMostAccessKeys = 256;

// Returns the keys of a role, without duplicates. `rules`: null for a missing role.
std::vector<AccessKey> access_keys(const RoleRulesBox* rules);

// Returns the hash (in the SubjectTrie) of the list of those roles that have `key`. `place`: the hash of the list of all roles of the same
// subject.
inline std::uint64_t keyed_place(std::uint64_t place, AccessKey key) noexcept { return place_hash(place * 0xD6E8FEB86659FD93ULL, key); }

// The keys of a request.
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
