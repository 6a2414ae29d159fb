// The results of functions of a storage backend of the stable tier, as types of the SDK.
//
// Thread-safety: one thread, that of the call.
// Lifetime:      of the call; its contents are copied from the plugin.
// Errors:        none.
#pragma once

#include <string_view>
#include <vector>

#include "backplane/points/storage.hpp"
#include "backplane/stable/storage.h"
#include "stable/conversions.hpp"

// The result of range() or txn(), which the plugin fills.
struct bp_store_answer {
  std::vector<backplane::KeyValue> items = {};
  backplane::Revision revision = -1;  // not set yet
  std::int64_t count = 0;
  bool more = false;
  bool committed = false;
};

namespace backplane::stable {

inline SharedBytes bytes_of(bp_str given) {
  const std::string_view part = view(given);
  return part.empty() ? SharedBytes() : SharedBytes::concat({&part, 1});
}

inline KeyValue key_value_of(const bp_key_value& given) {
  const bp_key_value item = copy_of(&given);
  return {text(item.key), bytes_of(item.value), item.create_revision, item.mod_revision, item.lease};
}

}  // namespace backplane::stable
