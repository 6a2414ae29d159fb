// The argument of Host::make_storage: a resource's names, type and strategy, and the prefix of its storage keys.
//
// Thread-safety: plain data.
// Lifetime:      moved into the storage, which shares ownership of the shared_ptr members.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "backplane/core/meta.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

class ObjectConverter;
class Schema;
class SchemaSet;
class StoreHooks;
class Strategy;

// One resource in one version. Several versions of a kind may share one storage. One of them is the stored version: it is made first, from
// a ResourceConfig without `stored_kind`. Every other version is a view: it sets `stored_kind`, serves the same objects, and converts them
// in both directions for every verb.
//
// A write through a view first runs the view's strategy (defaults, preparation, rules) and admission on the object in the view's version.
// Then the object is converted, and the stored version's strategy runs, as for every write.
// object, and then runs the stored version's strategy, as every write does.
struct ResourceConfig {
  // The kind and version that this resource serves.
  GroupVersionKind kind;
  // The stored version, if it is not `kind`. If another plugin owns it, the manifest of this plugin must require that plugin.
  GroupVersionKind stored_kind;
  // Converts between `kind` and `stored_kind`. Null: the Scheme's conversions are used; there must be one for each direction.
  std::shared_ptr<const ObjectConverter> converter;
  // The version in which objects are encoded in a store that other servers share (a store whose encoding is not JSON). Set it only if it
  // differs from the stored version. It is not served; the Scheme converts to and from it. Discovery's storageVersionHash is computed from
  // it.
  GroupVersionKind encoded_as;
  bool stored_as_json = false;  // encode as JSON in every store, even though the kind has a protobuf encoding
  std::string resource;         // plural, lower case
  std::string singular;         // empty: lower-case kind
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  // The type of the objects.
  const Schema* schema = nullptr;
  std::shared_ptr<const SchemaSet> schemas;  // owns `schema`
  // For the stored version: never null. For a view: rules for the view's version, which apply in addition to those of the stored version;
  // may be null. Of a view's KindFacts only the columns are used; if there are none, the stored version's columns are used.
  std::shared_ptr<const Strategy> strategy;
  // Called around every write of the resource; null: no hooks.
  std::shared_ptr<const StoreHooks> hooks;
  // Objects are removed this long after their last write (events); 0: objects are not removed.
  std::chrono::seconds time_to_live{0};
  // Storage keys are "/registry/" + storage_prefix + "/" [namespace "/"] name. If storage_prefix is empty, `resource` is used (custom
  // resources: group/resource, as upstream).
  std::string storage_prefix;
  std::string list_kind;  // empty: the kind + "List"
  // The text of a Warning header of every response ("v1 Thing is deprecated in v1.30+; use …"); empty: no such header.
  std::string deprecation_warning;
};

}  // namespace BACKPLANE_API
