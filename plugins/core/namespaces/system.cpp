#include "namespaces/system.hpp"

#include <array>

#include "backplane/core/json.hpp"
#include "backplane/points/unreadable_object.hpp"

namespace backplane::core {
namespace {

constexpr std::array<std::string_view, 4> kSystemNamespaces = {"default", "kube-system", "kube-public", "kube-node-lease"};
constexpr int kAttempts = 50;
constexpr std::chrono::milliseconds kPause{100};

// Upstream's interval: systemnamespaces.NewController.
constexpr std::chrono::seconds kNamespacesInterval{60};

}  // namespace

Object new_namespace(std::string_view name) {
  Object object = json::parse(R"({"apiVersion":"v1","kind":"Namespace","metadata":{}})").get_object();
  object.at("metadata").get_object()["name"] = name;
  return object;
}

Task<Status> make_if_missing(ApiClient& client, GroupVersionResource resource, std::string ns, Object object) {
  const std::string name(meta_name(object));
  Status last;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    auto have = co_await client.get(resource, ns, name);
    if (have.ok()) co_return Status();
    last = std::move(have).status();
    if (is_unreadable(last)) break;
    if (last.code() == 404) {
      auto made = co_await client.create(resource, ns, object);
      if (made.ok() || made.status().code() == 409) co_return Status();
      last = std::move(made).status();
      if (last.code() != 429 && last.code() < 500) break;
    }
    co_await sleep_for(kPause);
  }
  co_return internal_error("unable to create " + resource.resource + " " + object_key(ns, name) + ": " + last.message());
}

Task<Status> make_system_namespaces(ApiClient& client) {
  const GroupVersionResource namespaces{"", "v1", "namespaces"};
  Status unreadable;
  for (std::string_view name : kSystemNamespaces) {
    Status status = co_await make_if_missing(client, namespaces, "", new_namespace(name));
    if (!status.ok() && is_unreadable(status)) {
      unreadable = std::move(status);  // the other namespaces are created nevertheless
    } else if (!status.ok()) {
      co_return status;
    }
  }
  co_return unreadable;
}

Task<void> keep_system_namespaces(std::shared_ptr<ApiClient> client, Signal& stop, Logger& logger) {
  Sleeper sleeper(stop);
  while (co_await sleeper.sleep(kNamespacesInterval)) {
    Status status = co_await make_system_namespaces(*client);
    if (!status.ok() && !stop.fired()) logger.error(status.message());
  }
}

}  // namespace backplane::core
