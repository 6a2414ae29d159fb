#include "services/service_ranges.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"

namespace backplane::core {
namespace {

// A ServiceCIDR without the condition Ready counts as ready, because the controller that sets it may not run.
bool is_ready(const Object& service_cidr) {
  if (!meta_text(service_cidr, "deletionTimestamp").empty()) return false;
  const Object* condition = find_item(object_or_empty(service_cidr, "status"), "conditions", "type", "Ready");
  return condition == nullptr || get_string(*condition, "status") == "True";
}

}  // namespace

ServiceRanges::ServiceRanges(std::vector<AddressRange> flags) : flags_(std::move(flags)) { set({}); }

std::shared_ptr<const ServiceRanges::Now> ServiceRanges::now() const {
  std::lock_guard lock(mutex_);
  return now_;
}

void ServiceRanges::set(const std::vector<ObjectRef>& service_cidrs) {
  auto made = std::make_shared<Now>();
  for (const ObjectRef& entry : service_cidrs) {
    const Object object = decode(*entry, json::storage_ptr());
    const bool ready = is_ready(object);
    each_text(object_or_empty(object, "spec"), "cidrs", [&](std::string_view text, std::size_t) {
      auto range = AddressRange::parse(text);
      if (!range.ok()) return;  // too small or too large to allocate from
      if (ready) made->ready.push_back(*range);
      made->all.push_back(std::move(*range));
    });
  }
  if (service_cidrs.empty()) made->all = made->ready = flags_;
  std::lock_guard lock(mutex_);
  now_ = std::move(made);
}

bool any_holds(const std::vector<AddressRange>& ranges, std::string_view address) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const AddressRange& range) { return range.holds(address); });
}

void follow_service_cidrs(Host& host, SharedInformerFactory& informers, std::shared_ptr<ServiceRanges> ranges) {
  const GroupVersionResource resource{"networking.k8s.io", "v1", "servicecidrs"};
  if (host.find_storage(resource) == nullptr) return;
  auto informer = informers.for_resource(resource);
  const auto renew = [ranges, &indexer = informer->indexer()] { ranges->set(indexer.list()); };
  ResourceEventHandler handler;
  handler.on_add = [renew](const ObjectRef&, bool) { renew(); };
  handler.on_update = [renew](const ObjectRef&, const ObjectRef&) { renew(); };
  handler.on_delete = [renew](const ObjectRef&, bool) { renew(); };
  informer->add_event_handler(std::move(handler));
}

}  // namespace backplane::core
