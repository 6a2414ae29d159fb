// The members of an object that the garbage collector reads: its identity, its owners, and the progress of its deletion.
//
// Thread-safety: pure function.
// Errors:        nullopt if the text is not an object with metadata.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"

namespace backplane::controllers::gc {

inline constexpr std::string_view kOrphanFinalizer = "orphan";
inline constexpr std::string_view kForegroundFinalizer = "foregroundDeletion";

struct OwnerRef {
  std::string api_version, kind, name, uid;
  bool blocks = false;  // blockOwnerDeletion
  bool operator==(const OwnerRef&) const = default;
};

struct Facts {
  std::string ns, name, uid, resource_version;
  std::vector<OwnerRef> owners;
  bool deleted = false;                     // has a deletion timestamp
  bool orphan = false, foreground = false;  // has the finalizer of that name
};

// Reads the metadata from an object's JSON, without a tree of the other members.
std::optional<Facts> read_facts(std::string_view object);
// Reads the metadata from an object's tree.
Facts facts_of(const Object& object);

}  // namespace backplane::controllers::gc
