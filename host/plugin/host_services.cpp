#include "plugin/host_services.hpp"

namespace backplane {
namespace {

Status no_server() { return service_unavailable("there is no server"); }

}  // namespace

std::optional<std::string> PluginSettings::flag(std::string_view) const { return std::nullopt; }
bool PluginSettings::resource_enabled(const GroupVersionResource&) const { return true; }
std::string PluginSettings::configuration(std::string_view) const { return {}; }

Status ServedApi::change(const std::string&, GroupsChange) { return no_server(); }
std::vector<GroupVersionInfo> ServedApi::group_versions() const { return {}; }
void ServedApi::on_group_versions_changed(std::function<void(const GroupVersionsChange&)>, const void*) {}
void ServedApi::drop_callbacks(const void*) {}
Signal& ServedApi::groups_complete() { return never_; }
std::shared_ptr<RestStorage> ServedApi::find_storage(const GroupVersionResource&) const { return nullptr; }
Status ServedApi::publish_path(const std::string&, PathRoute) { return no_server(); }
Status ServedApi::withdraw_path(const std::string&, const std::string&) { return no_server(); }

std::shared_ptr<HttpClient> ServerAccess::client(TaskGroup&, std::optional<UserInfo>) { return nullptr; }
Result<std::shared_ptr<HttpClient>> ServerAccess::make_client(TaskGroup&, ClientConfig) { return no_server(); }
std::vector<StoredObjects> ServerAccess::stored_objects() const { return {}; }
Status ServerAccess::authorizer_order_changed() { return no_server(); }
Status ServerAccess::set_storage_transformers(const std::string&, std::shared_ptr<const StorageTransformers>) { return no_server(); }
Task<Result<Object>> ServerAccess::convert(GroupVersionKind, Object) { co_return no_server(); }

}  // namespace backplane
