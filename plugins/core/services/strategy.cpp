// Services: rules and the table.
#include "backplane/kit/strategy.hpp"
#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/types/ip_addresses.hpp"
#include "kinds/kinds.hpp"
#include "services/spec.hpp"

namespace backplane::core {
namespace {

using namespace kit;

constexpr std::size_t kNarrowWidth = 16;

std::string balancer_addresses(const Object& service) {
  std::vector<std::string> parts;
  each(object_or_empty(object_or_empty(service, "status"), "loadBalancer"), "ingress", [&](const Object& ingress, std::size_t) {
    const std::string_view ip = get_string(ingress, "ip");
    parts.emplace_back(ip.empty() ? get_string(ingress, "hostname") : ip);
  });
  return joined(parts);
}

void print_addresses(const Object& service, std::int64_t, Array& cells) {
  const Object& spec = object_or_empty(service, "spec");
  const bool balances = get_string(spec, "type") == "LoadBalancer";
  const std::string own =
      get_string(spec, "type") == "ExternalName" ? std::string(get_string(spec, "externalName")) : joined(texts_of(spec, "externalIPs"));
  std::string all = balances ? balancer_addresses(service) : "";
  // As upstream, truncates the column of kubectl; the object contains the whole list.
  if (all.size() > kNarrowWidth && own.empty()) all = all.substr(0, kNarrowWidth - 3) + "...";
  if (!all.empty() && !own.empty()) all += ",";
  all += own;
  cells.emplace_back(!all.empty() ? all : balances ? "<pending>" : "<none>");
}

// The two names of the topology annotation must have equal values, if both are set.
void check_topology_annotations(const Object& service, FieldErrors& errors) {
  constexpr std::string_view kMode = "service.kubernetes.io/topology-mode", kHints = "service.kubernetes.io/topology-aware-hints";
  const Object& annotations = object_or_empty(object_or_empty(service, "metadata"), "annotations");
  const Value *mode = find(annotations, kMode), *hints = find(annotations, kHints);
  if (mode == nullptr || hints == nullptr || *mode == *hints) return;
  errors.invalid(at_key("metadata.annotations", kMode), text_of(*mode),
                 "must match annotations[" + std::string(kHints) + "] when both are specified");
}

class ServiceStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;

  // An ExternalName has no internal traffic policy.  Validation precedes this, so a bad value is still refused.
  void canonicalize(Object& object) const override {
    Object& spec = ensure_object(object, "spec");
    if (get_string(spec, "type") == "ExternalName") erase_member(spec, "internalTrafficPolicy");
  }

 protected:
  void prepare_update(Object& object, const Object& old) const override {
    drop_fields_of_former_type(ensure_object(object, "spec"), object_or_empty(old, "spec"));
    if (get_string(object_or_empty(object, "spec"), "type") != "LoadBalancer") ensure_object(object, "status")["loadBalancer"] = Object();
  }
  void check(const Object& object, FieldErrors& errors) const override {
    check_topology_annotations(object, errors);
    validate_service_spec(object_or_empty(object, "spec"), errors);
  }
  void check_new(const Object& object, FieldErrors& errors) const override { validate_source_ranges(object, nullptr, errors); }
  void check_change(const Object& object, const Object& old, FieldErrors& errors) const override {
    validate_source_ranges(object, &old, errors);
    validate_service_change(object_or_empty(object, "spec"), object_or_empty(old, "spec"), errors);
  }
};

class ServiceStatusStrategy final : public StatusStrategy {
 public:
  using StatusStrategy::StatusStrategy;
  std::vector<std::string> warnings(const Object& object, const Object*) const override { return balancer_warnings(object); }
};

}  // namespace

void add_services(GroupCode& code, std::shared_ptr<const StoreHooks> hooks) {
  code.kinds["Service"] = {.make = made<ServiceStrategy>(), .make_status = made_status<ServiceStatusStrategy>, .hooks = std::move(hooks)};
  code.printers.emplace("serviceAddresses", print_addresses);
}

}  // namespace backplane::core
