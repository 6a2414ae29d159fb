// Installs an API group from rows: one row per kind, with its subresources.
//
// Thread-safety: used while a plugin provisions, on one thread.
// Errors:        the first Status that the host gives, unchanged.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backplane/host.hpp"

namespace backplane {
namespace kit BACKPLANE_API {

using MakeStrategy = std::function<std::shared_ptr<const Strategy>(KindFacts facts)>;

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
  std::shared_ptr<const Strategy> (*make_status)(std::shared_ptr<const Strategy> parent) = nullptr;
  std::optional<Host::ScalePaths> scale = {};    // nothing: no /scale
  std::shared_ptr<const StoreHooks> hooks = {};  // null: none
  std::chrono::seconds time_to_live{0};          // 0: objects stay
  std::string storage_prefix = {};               // empty: the plural
  std::string deprecation_warning = {};          // empty: none

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

class GroupInstaller {
 public:
  GroupInstaller(Host& host, GroupVersion gv, std::shared_ptr<const SchemaSet> schemas)
      : host_(host), gv_(std::move(gv)), schemas_(std::move(schemas)) {}

  // Makes the row's storages and puts them into the group.
  Status add(const KindRow& row);
  // Puts a storage at "pods/binding", or in the place of a row's own.
  void put(const std::string& path, std::shared_ptr<RestStorage> storage) { storages_[path] = std::move(storage); }
  // The store made for a row; null when there is none.
  std::shared_ptr<StandardStorage> store(const std::string& resource) const;
  const std::shared_ptr<const SchemaSet>& schemas() const noexcept { return schemas_; }

  // Registers the types and defaults with the Scheme and installs the group.
  Status install(std::string_view registrant, int group_priority, int version_priority);

 private:
  Host& host_;
  GroupVersion gv_;
  std::shared_ptr<const SchemaSet> schemas_;
  std::map<std::string, std::shared_ptr<RestStorage>> storages_;
  std::map<std::string, std::shared_ptr<StandardStorage>> stores_;
  std::vector<std::pair<GroupVersionKind, std::shared_ptr<const Strategy>>> kinds_;
};

}  // namespace BACKPLANE_API
}  // namespace backplane
