#include "tokens/object_reader.hpp"

#include "backplane/core/object.hpp"
#include "backplane/core/request.hpp"
#include "backplane/host.hpp"
#include "backplane/rest/roles.hpp"

namespace backplane::authentication {
namespace {

void fill_request(RequestContext& context, const std::string& resource, const std::string& ns, const std::string& name) {
  context.info.is_resource_request = true;
  context.info.verb = "get";
  context.info.api_prefix = "api";
  context.info.api_version = "v1";
  context.info.ns = ns;
  context.info.resource = resource;
  context.info.name = name;
}

// Checks a name from a token, which is not trusted.
bool is_name(const std::string& text) { return !text.empty() && text.size() <= 253 && text.find('/') == std::string::npos; }

}  // namespace

Task<Result<Object>> StorageReader::get(std::string resource, std::string ns, std::string name) {
  const bool namespaced = resource != "nodes";
  if (!is_name(name) || (namespaced && !is_name(ns))) co_return not_found("", resource, name);
  const std::shared_ptr<RestStorage> storage = host_.find_storage({"", "v1", resource});
  Getter* const getter = role_of<Getter>(storage);
  if (getter == nullptr) co_return not_found("", resource, name);
  RequestContext context;
  fill_request(context, resource, namespaced ? ns : std::string(), name);
  GetOptions cached;
  cached.resource_version = "0";
  auto found = co_await getter->get(context, name, cached);
  if (!found.ok()) found = co_await getter->get(context, name, GetOptions());
  if (!found.ok()) co_return std::move(found).status();
  co_return decode(**found, {});
}

}  // namespace backplane::authentication
