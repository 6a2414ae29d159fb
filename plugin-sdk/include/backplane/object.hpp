// One immutable revision of one object, as every reader and watcher shares it.
//
// Thread-safety: immutable; any number of threads.
// Lifetime:      shared; kept by caches, event logs and requests as long as each needs it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/bytes.hpp"
#include "backplane/json.hpp"
#include "backplane/selectors.hpp"
#include "backplane/storage.hpp"
#include "backplane/visibility.hpp"

namespace backplane BACKPLANE_API {

struct ObjectEntry {
  std::string key;  // storage key; empty for objects that are not stored (Status, Scale, dry run)
  std::string ns;
  std::string name;
  Revision revision = 0;  // printed as metadata.resourceVersion
  SharedBytes json;       // canonical JSON, kind and apiVersion first, resourceVersion in place, no trailing newline
  // Where the list item form begins: json[0] is '{', and '{' + json.substr(item_offset) is the object without kind and apiVersion.
  // 0: list items are printed whole (custom resources).
  std::uint32_t item_offset = 0;
  Labels labels;                    // sorted by key
  std::vector<std::string> fields;  // values of the resource's declared selectable fields, in declaration order

  // The list item: 1 or 2 pieces appended to `out`.
  void append_item(std::string& out) const {
    if (item_offset == 0) {
      out.append(json.view());
    } else {
      out.push_back('{');
      out.append(json.view().substr(item_offset));
    }
  }
};
using ObjectRef = std::shared_ptr<const ObjectEntry>;

// A tree of the object's JSON in `storage`.
Object decode(const ObjectEntry& entry, json::storage_ptr storage);
// An entry that is not stored, from a tree in canonical form.
ObjectRef make_object(const Object& tree);

// Inserts "resourceVersion":"N" into canonical JSON without one (built-ins: after uid, or where it stands in ObjectMeta's order;
// sorted: in key order).  A present value is replaced.
std::string splice_resource_version(std::string_view json, Revision revision, bool sorted_keys);

}  // namespace BACKPLANE_API
