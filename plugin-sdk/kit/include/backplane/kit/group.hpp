// Installs an API group from its document: storages and subresources of every kind in every version, types, field labels, priorities.
//
// Thread-safety: used while a plugin provisions, on one thread.
// Errors:        the first Status that the host gives, unchanged.
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

class GroupInstaller {
 public:
  // `schemas`: the types of each version, in the document's order of versions.
  GroupInstaller(Host& host, GroupDocument document, std::vector<std::shared_ptr<const SchemaSet>> schemas);

  // Makes the storages of all kinds and puts them into the group.
  Status add_kinds();
  // Puts a storage of the first version at "pods/binding", or in the place of a kind's own.
  void put(const std::string& path, std::shared_ptr<RestStorage> storage) { versions_.front().storages[path] = std::move(storage); }
  // The store made for a kind of the first version; null when there is none.
  std::shared_ptr<StandardStorage> store(const std::string& resource) const;
  // Selectors that name other labels of the kind than it has are told so in its own words, in each version it is served in.
  void put_words(const std::string& resource, const std::function<LabelledStorage::Words(const GroupVersionKind&)>& words);
  const std::shared_ptr<const SchemaSet>& schemas() const noexcept { return versions_.front().schemas; }

  // Registers types, field labels and the order of versions with the Scheme and installs the group.
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
  // On the stored form; of a view, that of the version it is stored in.
  std::shared_ptr<const Strategy> stored_strategy(const KindRow& row, const GroupVersionKind& kind) const;

  Host& host_;
  const GroupDocument document_;
  std::vector<Version> versions_;
  std::map<GroupVersionKind, std::vector<Scheme::FieldLabel>> labels_;
  std::map<GroupVersionKind, std::shared_ptr<const Strategy>> strategies_;
};

// One schema set for each document, with the core group's types at hand.  The texts must live as long as the sets (a plugin's read-only
// data).
Result<std::vector<std::shared_ptr<const SchemaSet>>> embedded_schemas(std::initializer_list<std::string_view> documents);

// Installs what read_group() gave: all that a plugin does whose group has no further storages.
Status install_group(Host& host, std::string_view registrant, Result<GroupDocument> document,
                     Result<std::vector<std::shared_ptr<const SchemaSet>>> schemas);

}  // namespace BACKPLANE_API
}  // namespace backplane
