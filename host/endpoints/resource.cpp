#include "endpoints/resource.hpp"

#include "backplane/admits_writes.hpp"
#include "registry/fields/stored_versions.hpp"

namespace backplane::endpoints {
namespace {

// Watches of this handler alone, when the server gave no common set.
std::shared_ptr<OpenWatches> own_watches(const ResourceScope& scope) {
  if (scope.watches != nullptr || scope.shutting_down == nullptr) return scope.watches;
  auto watches = std::make_shared<OpenWatches>();
  watches->end_all_on(*scope.shutting_down);
  return watches;
}

}  // namespace

Resource::Resource(ResourceScope given) : scope(std::move(given)) {
  RestStorage* storage = scope.storage.get();
  schema = storage->schema();
  offers = {true, schema};
  custom = schema != nullptr && schema->structural();
  api_version = scope.kind.group_version().to_string();
  getter = dynamic_cast<Getter*>(storage);
  lister = dynamic_cast<Lister*>(storage);
  watcher = dynamic_cast<Watcher*>(storage);
  creater = dynamic_cast<Creater*>(storage);
  named_creater = dynamic_cast<NamedCreater*>(storage);
  updater = dynamic_cast<Updater*>(storage);
  if (getter != nullptr && dynamic_cast<PatchForbidder*>(storage) == nullptr) patcher = updater;
  deleter = dynamic_cast<GracefulDeleter*>(storage);
  collection_deleter = dynamic_cast<CollectionDeleter*>(storage);
  if (collection_deleter != nullptr && !collection_deleter->deletes_collections()) collection_deleter = nullptr;
  connecter = dynamic_cast<Connecter*>(storage);
  if (connecter != nullptr) connect_methods = connecter->connect_methods();
  option_connecter = dynamic_cast<OptionConnecter*>(storage);
  stream_getter = dynamic_cast<StreamGetter*>(storage);
  list_kind = lister != nullptr ? lister->list_kind() : scope.kind.kind + "List";
  const auto* provider = dynamic_cast<TableProvider*>(storage);
  table = provider != nullptr ? &provider->table_convertor() : &default_table_convertor();
  offers.tables = provider != nullptr;
  watches = own_watches(scope);
  const bool admits = dynamic_cast<AdmitsWrites*>(storage) != nullptr;
  if (!admits) admission = scope.admission;
  if (named_creater != nullptr || (!admits && (creater != nullptr || updater != nullptr))) {
    auto versions = std::make_shared<registry::OneVersion>(scope.kind, schema);
    fields = std::make_unique<const registry::FieldManager>(scope.kind, schema, std::move(versions), WrittenFields());
  }
}

std::string Resource::internal_package(std::string_view group) {
  return group.empty() ? "core" : std::string(group.substr(0, group.find('.')));
}

std::string Resource::go_type(bool list) const {
  if (custom) return list ? "*unstructured.UnstructuredList" : "*unstructured.Unstructured";
  return "*" + internal_package(scope.kind.group) + "." + (list ? list_kind : scope.kind.kind);
}

}  // namespace backplane::endpoints
