// Services: their number, load balancers and node ports.
#include <algorithm>
#include <array>

#include "backplane/core/json_access.hpp"
#include "quota/evaluators.hpp"

namespace backplane::admission::quota {
namespace {

constexpr std::array<std::string_view, 4> kServiceResources = {"count/services", "services", "services.nodeports",
                                                               "services.loadbalancers"};

std::size_t explicit_node_ports(const Object& spec) {
  std::size_t out = 0;
  each(spec, "ports", [&](const Object& port, std::size_t) { out += get_int(port, "nodePort").value_or(0) != 0 ? 1 : 0; });
  return out;
}

// The number of requested node ports, which may not be allocated yet.
std::size_t node_ports(const Object& spec, bool is_balanced) {
  const bool allocates = get_bool(spec, "allocateLoadBalancerNodePorts").value_or(true);
  return is_balanced && !allocates ? explicit_node_ports(spec) : count_of(spec, "ports");
}

class ServiceEvaluator final : public Evaluator {
 public:
  bool handles(const AdmissionAttributes& attributes) const override {
    return attributes.subresource.empty() &&
           (attributes.operation == AdmissionOperation::kCreate || attributes.operation == AdmissionOperation::kUpdate);
  }
  ResourceNames matching_resources(const ResourceNames& names) const override {
    ResourceNames out;
    std::copy_if(names.begin(), names.end(), std::back_inserter(out), [](const std::string& name) {
      return std::find(kServiceResources.begin(), kServiceResources.end(), name) != kServiceResources.end();
    });
    return out;
  }
  ResourceList usage(const Subject& subject) const override {
    const Object& spec = object_or_empty(*subject.object, "spec");
    const bool is_balanced = get_string(spec, "type") == "LoadBalancer";
    const bool has_node_ports = is_balanced || get_string(spec, "type") == "NodePort";
    return {{"count/services", "1"},
            {"services", "1"},
            {"services.loadbalancers", is_balanced ? "1" : "0"},
            {"services.nodeports", has_node_ports ? std::to_string(node_ports(spec, is_balanced)) : "0"}};
  }
};

}  // namespace

std::unique_ptr<Evaluator> make_service_evaluator() { return std::make_unique<ServiceEvaluator>(); }

}  // namespace backplane::admission::quota
