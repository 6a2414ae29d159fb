// Installs an API group from its document: the storages and subresources of every kind in every version, types, field labels, and
// priorities.
//
// Thread-safety: use it on the thread that runs the plugin's provision().
// Errors:        the first error Status of the host, unchanged.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/kit/group_document.hpp"
#include "backplane/kit/labelled_storage.hpp"

namespace backplane {
namespace kit BACKPLANE_API {

// For plugins that add other storages to the group. Other plugins call install_group().
class GroupInstaller {
 public:
  // `schemas`: the types of each version, in the order of the document's versions.
  GroupInstaller(Host& host, GroupDocument document, std::vector<std::shared_ptr<const SchemaSet>> schemas);

  // Makes the storages of all kinds and adds them to the group.
  Status add_kinds();
  // Adds a storage to the first version at `path` ("pods/binding"), or replaces the storage at that path.
  void put(const std::string& path, std::shared_ptr<RestStorage> storage) { versions_.front().storages[path] = std::move(storage); }
  // Returns the store of a resource in the first version; null if there is none.
  std::shared_ptr<StandardStorage> store(const std::string& resource) const;
  // Sets the error texts for selectors with unknown field labels, for a resource in each of its versions.
  void put_words(const std::string& resource, const std::function<LabelledStorage::Words(const GroupVersionKind&)>& words);
  const std::shared_ptr<const SchemaSet>& schemas() const noexcept { return versions_.front().schemas; }

  // Registers types, field labels and the order of versions with the Scheme, and then installs the group. `registrant`: the plugin's name.
  Status install(std::string_view registrant);

 private:
  struct Version {
    GroupDocument::Version of;
    std::shared_ptr<const SchemaSet> schemas;
    std::map<std::string, std::shared_ptr<RestStorage>> storages = {};
    std::map<std::string, std::shared_ptr<StandardStorage>> stores = {};
  };
  Version* find(std::string_view version);
  Status add(const KindRow& row);
  Status add_subresources(const KindRow& row, const GroupVersionKind& kind, Version& version);
  // Returns the strategy of the stored version. If the kind is a view of another kind, returns that of the version in which its objects are
  // stored.
  std::shared_ptr<const Strategy> stored_strategy(const KindRow& row, const GroupVersionKind& kind) const;

  Host& host_;
  const GroupDocument document_;
  std::vector<Version> versions_;
  std::map<GroupVersionKind, std::vector<Scheme::FieldLabel>> labels_;
  std::map<GroupVersionKind, std::shared_ptr<const Strategy>> strategies_;
};

// Returns one schema set for each document. The sets import the types of the core group. The texts must live as long as the sets (read-only
// data of the plugin).
Result<std::vector<std::shared_ptr<const SchemaSet>>> embedded_schemas(std::initializer_list<std::string_view> documents);

// Installs the result of read_group(). A plugin without other storages needs no other call in provision().
//
//   return kit::install_group(host, "hello", kit::read_group(greetings_group_json()), kit::embedded_schemas({greetings_json()}));
Status install_group(Host& host, std::string_view registrant, Result<GroupDocument> document,
                     Result<std::vector<std::shared_ptr<const SchemaSet>>> schemas);

}  // namespace BACKPLANE_API
}  // namespace backplane
