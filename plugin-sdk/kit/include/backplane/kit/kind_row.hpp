// A kind of an API group as one row: its names, facts and columns, and the strategies made from them.
//
// A kind with several versions has a row for each.  The row of the stored version comes first; the others name it as `stored_kind`, and the
// Scheme has the conversions between the two before the row is installed, unless they have the same form.
//
// Thread-safety: used while a plugin provisions, on one thread.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backplane/rest/host.hpp"

namespace backplane {
namespace kit BACKPLANE_API {

using MakeStrategy = std::function<std::shared_ptr<const Strategy>(KindFacts facts)>;
using MakeStatusStrategy = std::shared_ptr<const Strategy> (*)(std::shared_ptr<const Strategy> parent);

// A kind as data.  What a row does not say, a kind does not have; most rows need no strategy of their own.
struct KindRow {
  std::string resource = {};
  std::string kind = {};
  std::vector<std::string> short_names = {};
  std::vector<std::string> categories = {};
  KindFacts facts = {};
  // What the kind does beyond its facts and schema, made from the facts; null: nothing (KindStrategy).
  MakeStrategy make = nullptr;
  // The strategy of /status, where facts.status or this says that there is one; null: StatusStrategy.
  MakeStatusStrategy make_status = nullptr;
  std::vector<std::string> status_keeps = {};    // of StatusStrategy: members of metadata that /status does not change
  std::optional<Host::ScalePaths> scale = {};    // nothing: no /scale
  std::shared_ptr<const StoreHooks> hooks = {};  // null: none
  std::chrono::seconds time_to_live{0};          // 0: objects stay
  std::string storage_prefix = {};               // empty: the plural
  std::string deprecation_warning = {};          // empty: none

  // A version beside the stored one.
  std::string version = {};                               // empty: the installer's first
  GroupVersionKind stored_kind = {};                      // set: this version is a view of that one (ResourceConfig::stored_kind)
  bool same_form = false;                                 // of such a view: it differs by the version's name alone
  std::shared_ptr<const ObjectConverter> converter = {};  // of such a view; null: the Scheme
  // Field labels of such a view, and what the stored version calls them.
  std::vector<Scheme::FieldLabel> field_labels = {};

  // Null for a view that makes none: it has nothing to say of its own form.
  std::shared_ptr<const Strategy> strategy() const;
  std::shared_ptr<const Strategy> status_strategy(std::shared_ptr<const Strategy> parent) const;  // null: no /status
};

// For KindRow::make and make_status: a strategy of class S, made from the facts and the arguments.
template <class S, class... Arguments>
MakeStrategy made(Arguments... arguments) {
  return [arguments...](KindFacts facts) { return std::make_shared<S>(std::move(facts), arguments...); };
}
template <class S>
std::shared_ptr<const Strategy> made_status(std::shared_ptr<const Strategy> parent) {
  return std::make_shared<S>(std::move(parent));
}

}  // namespace BACKPLANE_API
}  // namespace backplane
