// What clients are warned of beside a service that is written (pkg/api/service).
#include "backplane/kit/addresses.hpp"
#include "backplane/kit/walk.hpp"
#include "services/spec.hpp"

namespace backplane::core {
namespace {

using namespace kit;
using Warnings = std::vector<std::string>;

constexpr std::string_view kOldTopology = "service.kubernetes.io/topology-aware-hints", kTopology = "service.kubernetes.io/topology-mode";

using Check = std::vector<std::string> (*)(const std::string& path, std::string_view text);

void add(Warnings more, Warnings& out) {
  for (std::string& text : more) out.push_back(std::move(text));
}

void warn_of_each(const Object& spec, std::string_view list, Check check, Warnings& out) {
  each_text(spec, list, [&](std::string_view text, std::size_t i) { add(check(at(at("spec", list), i), text), out); });
}

bool has_items(const Object& spec, std::string_view list) { return count_of(spec, list) > 0; }

void warn_of_headless(const Object& spec, Warnings& out) {
  if (!get_string(spec, "loadBalancerIP").empty()) out.emplace_back("spec.loadBalancerIP is ignored for headless services");
  if (has_items(spec, "externalIPs")) out.emplace_back("spec.externalIPs is ignored for headless services");
  if (get_string(spec, "sessionAffinity") != "None") out.emplace_back("spec.SessionAffinity is ignored for headless services");
}

}  // namespace

Warnings service_warnings(const Object& service) {
  Warnings out;
  const Object& spec = object_or_empty(service, "spec");
  const bool external_name = get_string(spec, "type") == "ExternalName";
  const bool headless = get_string(spec, "type") == "ClusterIP" && get_string(spec, "clusterIP") == kHeadless;
  if (object_or_empty(object_or_empty(service, "metadata"), "annotations").contains(kOldTopology)) {
    out.push_back("annotation " + std::string(kOldTopology) + " is deprecated, please use " + std::string(kTopology) + " instead");
  }
  if (!get_string(spec, "clusterIP").empty() && !headless) warn_of_each(spec, "clusterIPs", ip_warnings, out);
  if (headless) warn_of_headless(spec, out);
  warn_of_each(spec, "externalIPs", ip_warnings, out);
  if (has_items(spec, "externalIPs") && !headless && !external_name) {
    out.emplace_back("spec.externalIPs is deprecated and may no longer be implemented in some clusters");
  }
  add(ip_warnings("spec.loadBalancerIP", get_string(spec, "loadBalancerIP")), out);
  warn_of_each(spec, "loadBalancerSourceRanges", cidr_warnings, out);
  if (external_name && has_items(spec, "externalIPs")) out.emplace_back("spec.externalIPs is ignored when spec.type is \"ExternalName\"");
  if (!external_name && !get_string(spec, "externalName").empty()) {
    out.emplace_back("spec.externalName is ignored when spec.type is not \"ExternalName\"");
  }
  if (get_string(spec, "trafficDistribution") == "PreferClose") {
    out.emplace_back("spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"");
  }
  return out;
}

}  // namespace backplane::core
