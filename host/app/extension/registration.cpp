#include "app/extension/registration.hpp"

#include <algorithm>
#include <cctype>

#include "backplane/types/base64.hpp"

namespace backplane {
namespace {

constexpr int kServicePort = 443;
// Bounds of kube-apiserver's validation.
constexpr int kLongestGroupPriority = 20000, kLongestVersionPriority = 1000;
constexpr int kWebhookSeconds = 10;

Object metadata_of(const std::string& ns, const std::string& name) {
  Object metadata{{"name", name}, {"labels", Object{{"app.kubernetes.io/managed-by", kRunner}}}};
  if (!ns.empty()) metadata["namespace"] = ns;
  return metadata;
}

RegisteredObject object_of(GroupVersionResource resource, std::string_view kind, const std::string& ns, const std::string& name) {
  const std::string version = resource.group.empty() ? resource.version : resource.group + "/" + resource.version;
  Object object{{"apiVersion", version}, {"kind", kind}, {"metadata", metadata_of(ns, name)}};
  return {std::move(resource), ns, name, std::move(object)};
}

RegisteredObject service(const ExtensionSettings& settings, std::uint16_t port) {
  auto out = object_of({"", "v1", "services"}, "Service", settings.service_namespace, settings.service_name);
  Object https{{"name", "https"}, {"port", settings.external_name.empty() ? kServicePort : port}, {"protocol", "TCP"}};
  if (settings.external_name.empty()) {
    https["targetPort"] = port;
    out.object["spec"] = Object{{"ports", Array{std::move(https)}}};
  } else {
    out.object["spec"] = Object{{"type", "ExternalName"}, {"externalName", settings.external_name}, {"ports", Array{std::move(https)}}};
  }
  return out;
}

RegisteredObject endpoint_slice(const ExtensionSettings& settings, std::uint16_t port) {
  auto out = object_of({"discovery.k8s.io", "v1", "endpointslices"}, "EndpointSlice", settings.service_namespace, settings.service_name);
  Object& labels = out.object["metadata"].get_object()["labels"].get_object();
  labels["kubernetes.io/service-name"] = settings.service_name;
  labels["endpointslice.kubernetes.io/managed-by"] = kRunner;
  const bool v6 = settings.advertise_address.find(':') != std::string::npos;
  out.object["addressType"] = v6 ? "IPv6" : "IPv4";
  out.object["endpoints"] = Array{Object{{"addresses", Array{settings.advertise_address}}, {"conditions", Object{{"ready", true}}}}};
  out.object["ports"] = Array{Object{{"name", "https"}, {"port", port}, {"protocol", "TCP"}}};
  return out;
}

RegisteredObject api_service(const ExtensionSettings& settings, const GroupVersionInfo& info, const RunnerAddress& address) {
  const auto& [group, version] = info.group_version;
  auto out = object_of({"apiregistration.k8s.io", "v1", "apiservices"}, "APIService", "", version + "." + group);
  const int port = settings.external_name.empty() ? kServicePort : address.port;
  out.object["spec"] =
      Object{{"group", group},
             {"version", version},
             {"groupPriorityMinimum", std::clamp(info.group_priority_minimum, 1, kLongestGroupPriority)},
             {"versionPriority", std::clamp(info.version_priority, 1, kLongestVersionPriority)},
             {"caBundle", to_base64(address.ca_bundle)},
             {"service", Object{{"namespace", settings.service_namespace}, {"name", settings.service_name}, {"port", port}}}};
  return out;
}

// "KeepShelves" → "keepshelves": the first DNS label of a webhook's name.
std::string label_of(std::string_view name) {
  std::string out;
  for (const char character : name) {
    const auto byte = static_cast<unsigned char>(character);
    if (std::isalnum(byte) != 0) out += static_cast<char>(std::tolower(byte));
    if (std::isalnum(byte) == 0 && !out.empty() && out.back() != '-') out += '-';
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  return out;
}

Object webhook(const ExtensionSettings& settings, const WebhookRule& rule, bool mutating, const RunnerAddress& address) {
  Array rules;
  for (const auto& match : rule.matches) {
    rules.push_back(Object{{"apiGroups", Array{match.group}},
                           {"apiVersions", Array{match.version}},
                           {"resources", Array{match.resource}},
                           {"operations", Array(rule.operations.begin(), rule.operations.end())},
                           {"scope", "*"}});
  }
  Object client{{"url", webhook_base(settings, address.port) + webhook_path(mutating, rule.name)},
                {"caBundle", to_base64(address.ca_bundle)}};
  Object out{{"name", label_of(rule.name) + "." + settings.service_name + ".backplane.dev"},
             {"clientConfig", std::move(client)},
             {"rules", std::move(rules)},
             {"admissionReviewVersions", Array{"v1"}},
             {"failurePolicy", "Fail"},
             {"matchPolicy", "Equivalent"},
             {"sideEffects", "None"},
             {"timeoutSeconds", kWebhookSeconds}};
  if (mutating) out["reinvocationPolicy"] = "IfNeeded";
  return out;
}

}  // namespace

std::vector<RegisteredObject> api_service_objects(const ExtensionSettings& settings, const std::vector<GroupVersionInfo>& versions,
                                                  const RunnerAddress& address) {
  std::vector<RegisteredObject> out;
  if (versions.empty()) return out;
  out.push_back(service(settings, address.port));
  if (settings.external_name.empty()) out.push_back(endpoint_slice(settings, address.port));
  for (const GroupVersionInfo& info : versions) out.push_back(api_service(settings, info, address));
  return out;
}

std::vector<RegisteredObject> webhook_objects(const ExtensionSettings& settings, const std::vector<WebhookRule>& rules,
                                              const RunnerAddress& address) {
  std::vector<RegisteredObject> out;
  for (const bool mutating : {true, false}) {
    Array webhooks;
    for (const WebhookRule& rule : rules) {
      if (mutating ? rule.mutates : rule.validates) webhooks.push_back(webhook(settings, rule, mutating, address));
    }
    if (webhooks.empty()) continue;
    const std::string kind = mutating ? "MutatingWebhookConfiguration" : "ValidatingWebhookConfiguration";
    const std::string resource = mutating ? "mutatingwebhookconfigurations" : "validatingwebhookconfigurations";
    out.push_back(object_of({"admissionregistration.k8s.io", "v1", resource}, kind, "", settings.service_name));
    out.back().object["webhooks"] = std::move(webhooks);
  }
  return out;
}

std::string webhook_path(bool mutating, std::string_view rule) {
  return (mutating ? "/admission-webhooks/mutate/" : "/admission-webhooks/validate/") + std::string(rule);
}

std::string webhook_base(const ExtensionSettings& settings, std::uint16_t port) {
  if (!settings.url_base.empty()) return settings.url_base;
  std::string host = settings.external_name.empty() ? settings.advertise_address : settings.external_name;
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  return "https://" + host + ":" + std::to_string(port);
}

}  // namespace backplane
