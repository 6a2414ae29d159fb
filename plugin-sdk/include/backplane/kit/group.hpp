// Installs an API group from rows: one row per kind and version, with its subresources.
//
// A kind with several versions has a row for each.  The row of the stored version comes first; the others name it as `stored_kind`, and the
// Scheme has the conversions between the two before the row is added.
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
  std::vector<std::string> status_keeps = {};    // of StatusStrategy: members of metadata that /status does not change
  std::optional<Host::ScalePaths> scale = {};    // nothing: no /scale
  std::shared_ptr<const StoreHooks> hooks = {};  // null: none
  std::chrono::seconds time_to_live{0};          // 0: objects stay
  std::string storage_prefix = {};               // empty: the plural
  std::string deprecation_warning = {};          // empty: none

  // A version beside the stored one.
  std::string version = {};                               // empty: the installer's first
  GroupVersionKind stored_kind = {};                      // set: this version is a view of that one (ResourceConfig::stored_kind)
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

class GroupInstaller {
 public:
  // `gv`: the version that clients should prefer.
  GroupInstaller(Host& host, GroupVersion gv, std::shared_ptr<const SchemaSet> schemas) : host_(host), group_(std::move(gv.group)) {
    add_version(std::move(gv.version), std::move(schemas));
  }

  // One more version, less preferred than those before.
  void add_version(std::string version, std::shared_ptr<const SchemaSet> schemas);
  // Makes the row's storages and puts them into the group.
  Status add(const KindRow& row);
  // Puts a storage of the first version at "pods/binding", or in the place of a row's own.
  void put(const std::string& path, std::shared_ptr<RestStorage> storage) { versions_.front().storages[path] = std::move(storage); }
  // The store made for a row of the first version; null when there is none.
  std::shared_ptr<StandardStorage> store(const std::string& resource) const;
  const std::shared_ptr<const SchemaSet>& schemas() const noexcept { return versions_.front().schemas; }

  // Registers types, field labels and the order of versions with the Scheme and installs the group.
  Status install(std::string_view registrant, int group_priority, int version_priority);

 private:
  struct Version {
    std::string name;
    std::shared_ptr<const SchemaSet> schemas;
    std::map<std::string, std::shared_ptr<RestStorage>> storages;
    std::map<std::string, std::shared_ptr<StandardStorage>> stores;
  };
  Version* find(std::string_view version);
  Status add_subresources(const KindRow& row, const GroupVersionKind& kind, Version& version);
  // On the stored form; of a view, that of the version it is stored in.
  std::shared_ptr<const Strategy> stored_strategy(const KindRow& row, const GroupVersionKind& kind) const;

  Host& host_;
  std::string group_;
  std::vector<Version> versions_;
  std::map<GroupVersionKind, std::vector<Scheme::FieldLabel>> labels_;
  std::map<GroupVersionKind, std::shared_ptr<const Strategy>> strategies_;
};

}  // namespace BACKPLANE_API
}  // namespace backplane
