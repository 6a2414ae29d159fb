// Calls of a plugin to the server, as system:apiserver (client.h).
//
// Thread-safety: call the functions on a thread of the plugin (base.h) or on a thread that the plugin has created. Every call fails in
//                provision() and the other lifecycle calls, and in callbacks on a request's thread.
// Lifetime:      the Host outlives the client.
// Errors:        the functions throw an Error with the code and reason of the server's Status ("NotFound").
#pragma once

#include <string>
#include <string_view>

#include "backplane/stable/client.h"
#include "backplane/stable/json.hpp"

namespace backplane::stable {

// A resource in one version. The texts are not copied: they must outlive the object.
struct Resource {
  std::string_view group, version, resource;
  bp_resource table() const noexcept { return {str(group), str(version), str(resource)}; }
};

// Calls of this server. Objects are JSON. `ns` is empty for cluster-scoped objects; for list(), empty also means all namespaces.
class Client {
 public:
  explicit Client(const Host& host) : host_(&host), table_(&host.find<bp_client_table>(BP_CLIENT_TABLE, 1)) {}

  Json get(const Resource& resource, std::string_view ns, std::string_view name) const {
    return call(resource, [&](auto* of, bp_error* error) { return table_->get(host_->context(), of, str(ns), str(name), error); });
  }
  Json list(const Resource& resource, std::string_view ns, std::string_view labels = {}, std::string_view fields = {}) const {
    return call(resource,
                [&](auto* of, bp_error* error) { return table_->list(host_->context(), of, str(ns), str(labels), str(fields), error); });
  }
  Json create(const Resource& resource, std::string_view ns, std::string_view object) const {
    return call(resource, [&](auto* of, bp_error* error) { return table_->create(host_->context(), of, str(ns), str(object), error); });
  }
  Json update(const Resource& resource, std::string_view ns, std::string_view object, std::string_view subresource = {}) const {
    return call(resource, [&](auto* of, bp_error* error) {
      return table_->update(host_->context(), of, str(ns), str(subresource), str(object), error);
    });
  }
  // `type`: one of BP_PATCH_….
  Json patch(const Resource& resource, std::string_view ns, std::string_view name, std::string_view patch,
             std::string_view subresource = {}, int32_t type = BP_PATCH_MERGE) const {
    return call(resource, [&](auto* of, bp_error* error) {
      return table_->patch(host_->context(), of, str(ns), str(name), str(subresource), type, str(patch), error);
    });
  }
  Json remove(const Resource& resource, std::string_view ns, std::string_view name, std::string_view options = {}) const {
    return call(resource,
                [&](auto* of, bp_error* error) { return table_->remove(host_->context(), of, str(ns), str(name), str(options), error); });
  }

 private:
  template <class Call>
  Json call(const Resource& resource, Call made) const {
    bp_error error{};
    const bp_resource of = resource.table();
    bp_text* answer = made(&of, &error);
    if (answer == nullptr) throw Error(error);
    return Json(*host_, host_->take(answer));
  }

  const Host* host_;
  const bp_client_table* table_;
};

}  // namespace backplane::stable
