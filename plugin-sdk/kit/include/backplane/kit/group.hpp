// Installs an API group from its document: storages and subresources of every kind in every version, types, field labels, priorities.
//
// Thread-safety: used while a plugin provisions, on one thread.
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

// For plugins that add further storages to the group; others call install_group().
class GroupInstaller {
 public:
  // `schemas`: the types of each version, in the order of the document's versions.
  GroupInstaller(Host& host, GroupDocument document, std::vector<std::shared_ptr<const SchemaSet>> schemas);

  // Makes the storages of all kinds and adds them to the group.
  Status add_kinds();
  // Adds a storage of the first version at `path` ("pods/binding"), or replaces an existing one.
  void put(const std::string& path, std::shared_ptr<RestStorage> storage) { versions_.front().storages[path] = std::move(storage); }
  // The store of a kind in the first version; null if there is none.
  std::shared_ptr<StandardStorage> store(const std::string& resource) const;
  // Sets the error texts for selectors with unknown field labels of a kind, in each of its versions.
  void put_words(const std::string& resource, const std::function<LabelledStorage::Words(const GroupVersionKind&)>& words);
  const std::shared_ptr<const SchemaSet>& schemas() const noexcept { return versions_.front().schemas; }

  // Registers types, field labels and the order of versions with the Scheme, and installs the group. `registrant`: the plugin's name.
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
  // The strategy of the stored version; for a view, that of the version in which it is stored.
  std::shared_ptr<const Strategy> stored_strategy(const KindRow& row, const GroupVersionKind& kind) const;

  Host& host_;
  const GroupDocument document_;
  std::vector<Version> versions_;
  std::map<GroupVersionKind, std::vector<Scheme::FieldLabel>> labels_;
  std::map<GroupVersionKind, std::shared_ptr<const Strategy>> strategies_;
};

// One schema set per document, with the core group's types imported. The texts must live as long as the sets (a plugin's read-only data).
Result<std::vector<std::shared_ptr<const SchemaSet>>> embedded_schemas(std::initializer_list<std::string_view> documents);

// Installs the result of read_group(): everything that provision() does in a plugin without further storages.
//
//   return kit::install_group(host, "hello", kit::read_group(greetings_group_json()), kit::embedded_schemas({greetings_json()}));
Status install_group(Host& host, std::string_view registrant, Result<GroupDocument> document,
                     Result<std::vector<std::shared_ptr<const SchemaSet>>> schemas);

}  // namespace BACKPLANE_API
}  // namespace backplane
