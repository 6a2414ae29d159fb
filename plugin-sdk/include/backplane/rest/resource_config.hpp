// The argument of Host::make_storage: a resource's names, type, strategy, and the keys of its objects.
//
// Thread-safety: plain data.
// Lifetime:      moved into the storage, which keeps the shared members.
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

// One resource in one version. A kind may have several versions over one storage. One of them is the stored version: it is made first,
// from a config without `stored_kind`. Every other version sets `stored_kind` and is a view: the same objects, converted in both
// directions, for every verb.
//
// A write through a view runs the view's strategy (defaults, preparation, rules) and admission on the view's version, converts the
// object, and then runs the stored version's strategy, as every write does.
struct ResourceConfig {
  // The kind and version that this resource serves.
  GroupVersionKind kind;
  // The stored version, if it is not `kind`. It may belong to another plugin, which the manifest must then require.
  GroupVersionKind stored_kind;
  // Converts between `kind` and `stored_kind`; null: the functions that were added to the Scheme, one for each direction.
  std::shared_ptr<const ObjectConverter> converter;
  // The version in which objects are encoded in a store that other servers share (a store with an encoding other than JSON), if it
  // differs from the stored version. It is not served; the Scheme converts to and from it. Discovery's storageVersionHash is computed
  // from it.
  GroupVersionKind encoded_as;
  bool stored_as_json = false;  // encode as JSON in every store, even though the kind has a protobuf encoding
  std::string resource;         // plural, lower case
  std::string singular;         // empty: lower-case kind
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  // The type of the objects.
  const Schema* schema = nullptr;
  std::shared_ptr<const SchemaSet> schemas;  // keeps `schema` alive
  // For the stored version: never null. For a view: rules on the view's version in addition to the stored version's, or null; of its facts
  // only the columns are used, and without columns the stored version's are shown.
  std::shared_ptr<const Strategy> strategy;
  // Called around every write of the resource; null: none.
  std::shared_ptr<const StoreHooks> hooks;
  // Objects are removed this long after their last write (events); 0: never.
  std::chrono::seconds time_to_live{0};
  // Keys are "/registry/" + storage_prefix + "/" [namespace "/"] name. Empty: the plural (custom resources: group/plural, as upstream).
  std::string storage_prefix;
  std::string list_kind;  // empty: the kind + "List"
  // A Warning header of every response ("v1 Thing is deprecated in v1.30+; use …"); empty: none.
  std::string deprecation_warning;
};

}  // namespace BACKPLANE_API
