#include "objects/cached_objects.hpp"

#include "backplane/rest/results.hpp"
#include "backplane/rest/roles.hpp"

namespace backplane::admission::objects {
namespace {

constexpr std::chrono::seconds kReadyTimeout{10};  // the same as in upstream's admission.Handler.WaitForReady
constexpr std::chrono::milliseconds kPause{100};

}  // namespace

Task<Status> wait_synced(const Lister& lister, const AdmissionAttributes& attributes) {
  const auto until = std::chrono::steady_clock::now() + kReadyTimeout;
  while (!lister.has_synced()) {
    if (std::chrono::steady_clock::now() >= until) co_return admission_forbidden(attributes, "not yet ready to handle request");
    co_await sleep_for(kPause);
  }
  co_return Status();
}

Object decoded(const ObjectEntry& entry, const AdmissionAttributes& attributes) {
  return decode(entry, attributes.context != nullptr ? attributes.context->arena() : json::storage_ptr());
}

Task<Result<ObjectRef>> read_live(Host& host, GroupVersionResource resource, std::string ns, std::string name) {
  const std::shared_ptr<RestStorage> storage = host.find_storage(resource);
  Getter* getter = role_of<Getter>(storage);
  if (getter == nullptr) co_return not_found(resource.group, resource.resource, name);
  RequestContext own;  // a separate context, because the plugin reads on its own behalf: no admission, no authorization
  own.info.ns = std::move(ns);
  auto reading = getter->get(own, std::move(name), GetOptions());
  auto found = co_await std::move(reading);
  co_return found;
}

Task<Result<std::vector<ObjectRef>>> list_live(Host& host, GroupVersionResource resource, std::string ns) {
  const std::shared_ptr<RestStorage> storage = host.find_storage(resource);
  auto* lister = role_of<backplane::Lister>(storage);
  if (lister == nullptr) co_return not_found(resource.group, resource.resource, "");
  RequestContext own;
  own.info.ns = std::move(ns);
  auto listing = lister->list(own, ListOptions());
  auto list = co_await std::move(listing);
  if (!list.ok()) co_return std::move(list).status();
  std::vector<ObjectRef> found;
  const std::function<void(const ObjectEntry&)> take = [&found](const ObjectEntry& entry) {
    found.push_back(std::make_shared<const ObjectEntry>(entry));
  };
  auto taking = for_each(*list->items, take);
  Status taken = co_await std::move(taking);
  if (!taken.ok()) co_return taken;
  co_return found;
}

}  // namespace backplane::admission::objects
