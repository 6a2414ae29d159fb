#include "endpoints/resource.hpp"

#include "backplane/rest/standard_storage.hpp"
#include "registry/fields/stored_versions.hpp"

namespace backplane::endpoints {
namespace {

// Returns the OpenWatches of the server. If there is none and watches must end at shutdown, returns a new object for this handler.
std::shared_ptr<OpenWatches> own_watches(const ResourceScope& scope) {
  if (scope.watches != nullptr || scope.shutting_down == nullptr) return scope.watches;
  auto watches = std::make_shared<OpenWatches>();
  watches->end_all_on(*scope.shutting_down);
  return watches;
}

// Returns null if the storage has no table convertor.
const TableConvertor* table_of(RestStorage* storage) {
  if (const auto* provider = role_of<TableProvider>(storage)) return &provider->table_convertor();
  const auto* subresource = role_of<SubresourceStorage>(storage);
  return subresource != nullptr ? subresource->subresource_table() : nullptr;
}

}  // namespace

Resource::Resource(ResourceScope given) : scope(std::move(given)) {
  RestStorage* storage = scope.storage.get();
  schema = storage->schema();
  offers = {true, schema};
  custom = schema != nullptr && schema->structural();
  api_version = scope.kind.group_version().to_string();
  getter = role_of<Getter>(storage);
  lister = role_of<Lister>(storage);
  watcher = role_of<Watcher>(storage);
  creater = role_of<Creater>(storage);
  named_creater = role_of<NamedCreater>(storage);
  validated_creater = role_of<ValidatedCreater>(storage);
  updater = role_of<Updater>(storage);
  if (getter != nullptr && role_of<PatchForbidder>(storage) == nullptr) patcher = updater;
  deleter = role_of<GracefulDeleter>(storage);
  collection_deleter = role_of<CollectionDeleter>(storage);
  if (collection_deleter != nullptr && !collection_deleter->deletes_collections()) collection_deleter = nullptr;
  connecter = role_of<Connecter>(storage);
  if (connecter != nullptr) connect_methods = connecter->connect_methods();
  option_connecter = role_of<OptionConnecter>(storage);
  stream_getter = role_of<StreamGetter>(storage);
  refuser = role_of<RequestRefuser>(storage);
  list_kind = lister != nullptr ? lister->list_kind() : scope.kind.kind + "List";
  const TableConvertor* const own_table = table_of(storage);
  table = own_table != nullptr ? own_table : &default_table_convertor();
  offers.tables = own_table != nullptr;
  watches = own_watches(scope);
  const bool admits = storage->admits_writes();
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
