// Services: rules and the table.
#include "backplane/kit/strategy.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/kit/walk.hpp"
#include "backplane/meta.hpp"
#include "kinds/kinds.hpp"
#include "services/spec.hpp"

namespace backplane::core {
namespace {

using namespace kit;

constexpr std::size_t kNarrowWidth = 16;

std::string print_ports(const Object& spec) {
  std::vector<std::string> parts;
  each(spec, "ports", [&](const Object& port, std::size_t) {
    std::string text = std::to_string(get_int(port, "port").value_or(0));
    if (const auto node = get_int(port, "nodePort").value_or(0); node != 0) text += ":" + std::to_string(node);
    parts.push_back(text + "/" + std::string(get_string(port, "protocol")));
  });
  return parts.empty() ? "<none>" : joined(parts);
}

std::string balancer_addresses(const Object& service) {
  std::vector<std::string> parts;
  each(object_or_empty(object_or_empty(service, "status"), "loadBalancer"), "ingress", [&](const Object& ingress, std::size_t) {
    const std::string_view ip = get_string(ingress, "ip");
    parts.emplace_back(ip.empty() ? get_string(ingress, "hostname") : ip);
  });
  return joined(parts);
}

std::string external_ip(const Object& service) {
  const Object& spec = object_or_empty(service, "spec");
  const std::string_view type = get_string(spec, "type");
  if (type == "ExternalName") return std::string(get_string(spec, "externalName"));
  const auto own = texts_of(spec, "externalIPs");
  if (type != "LoadBalancer") return own.empty() ? "<none>" : joined(own);
  std::string balanced = balancer_addresses(service);
  // Narrow on purpose: the wide form is for the object itself.
  if (balanced.size() > kNarrowWidth && own.empty()) balanced = balanced.substr(0, kNarrowWidth - 3) + "...";
  if (!own.empty()) return balanced.empty() ? joined(own) : balanced + "," + joined(own);
  return balanced.empty() ? "<pending>" : balanced;
}

void print_addresses(const Object& service, std::int64_t, Array& cells) {
  const Object& spec = object_or_empty(service, "spec");
  cells.emplace_back(external_ip(service));
  cells.emplace_back(print_ports(spec));
}

class ServiceStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;

 protected:
  void prepare_update(Object& object, const Object& old) const override {
    drop_left_behind(ensure_object(object, "spec"), object_or_empty(old, "spec"));
  }
  void check(const Object& object, FieldErrors& errors) const override { validate_service_spec(object_or_empty(object, "spec"), errors); }
  void check_change(const Object& object, const Object& old, FieldErrors& errors) const override {
    validate_service_change(object_or_empty(object, "spec"), object_or_empty(old, "spec"), errors);
  }
};

}  // namespace

void add_services(GroupCode& code, std::shared_ptr<const StoreHooks> hooks) {
  code.kinds["Service"] = {.make = made<ServiceStrategy>(), .hooks = std::move(hooks)};
  code.printers.emplace("serviceAddresses", print_addresses);
}

}  // namespace backplane::core
