#include "namespaces/kubernetes_endpoints.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"

namespace backplane::core {
namespace {

// The label that makes the endpoint slice mirroring controller ignore an Endpoints object.
constexpr std::string_view kSkipMirror = "endpointslice.kubernetes.io/skip-mirror";

std::string_view type_of(std::string_view address) { return address.find(':') == std::string_view::npos ? "IPv4" : "IPv6"; }

std::string_view ip_of(const Value& address) { return address.is_object() ? get_string(address.get_object(), "ip") : std::string_view(); }

Value address_value(const std::string& address) {
  Object out;
  out["ip"] = address;
  return out;
}

Array subsets_of(const std::vector<std::string>& addresses, int port) {
  Object endpoint;
  endpoint["name"] = "https";
  endpoint["port"] = port;
  endpoint["protocol"] = "TCP";
  Object subset;
  Array& list = subset["addresses"].emplace_array();
  for (const std::string& address : addresses) list.push_back(address_value(address));
  subset["ports"] = Array{std::move(endpoint)};
  return Array{std::move(subset)};
}

bool skip_mirroring(Object& endpoints) {
  Object& labels = ensure_object(ensure_object(endpoints, "metadata"), "labels");
  if (get_string(labels, kSkipMirror) == "true") return false;
  labels[kSkipMirror] = "true";
  return true;
}

// The first subset; null: there is none.
const Object* first_subset(const Object& endpoints) {
  const Array* subsets = get_array(endpoints, "subsets");
  return subsets != nullptr && !subsets->empty() ? subsets->front().if_object() : nullptr;
}

// The only subset of the endpoints; null: there is none, or several.
Object* only_subset(Object& endpoints) {
  Value* subsets = find(endpoints, "subsets");
  const bool one = subsets != nullptr && subsets->is_array() && subsets->get_array().size() == 1;
  return one ? subsets->get_array().front().if_object() : nullptr;
}

// Sets the list `key`, and returns false if it had this value already. An absent list equals an empty list.
bool set_list(Object& object, std::string_view key, Array wanted) {
  const Array* have = get_array(object, key);
  if (have != nullptr ? *have == wanted : wanted.empty()) return false;
  object[key] = std::move(wanted);
  return true;
}

// Removes addresses other than the one at `own` until `most` are left: first those after it, then those at the beginning.
void trim_addresses(Array& addresses, std::size_t own, std::size_t most) {
  while (addresses.size() > std::max<std::size_t>(most, 1)) {
    const bool wraps = own + 1 == addresses.size();
    addresses.erase(addresses.begin() + static_cast<std::ptrdiff_t>(wraps ? 0 : own + 1));
    if (wraps) --own;
  }
}

// Appends an endpoint for each address of the type `type` in the subset's list `member`.
void add_endpoints(Array& list, const Object& subset, std::string_view member, std::string_view type) {
  const Array* addresses = get_array(subset, member);
  if (addresses == nullptr) return;
  for (const Value& address : *addresses) {
    const std::string_view ip = ip_of(address);
    if (type_of(ip) != type) continue;
    Object& endpoint = list.emplace_back(Object()).get_object();
    endpoint["addresses"] = Array{json::string(ip)};
    endpoint["conditions"].emplace_object()["ready"] = member == "addresses";
    for (const std::string_view kept : {"nodeName", "targetRef"}) {
      if (const Value* value = find(address.get_object(), kept)) endpoint[kept] = *value;
    }
  }
}

Array slice_ports(const Object& subset) {
  Array out;
  const Array* ports = get_array(subset, "ports");
  if (ports == nullptr) return out;
  for (const Value& port : *ports) {
    Object& copy = out.emplace_back(Object()).get_object();
    copy["name"] = get_string(port.get_object(), "name");
    for (const std::string_view kept : {"protocol", "port"}) {
      if (const Value* value = find(port.get_object(), kept)) copy[kept] = *value;
    }
  }
  return out;
}

}  // namespace

bool set_kubernetes_endpoints(Object& endpoints, const std::vector<std::string>& addresses, int port) {
  const bool changed = skip_mirroring(endpoints);
  if (addresses.empty()) return erase_member(endpoints, "subsets") || changed;
  return set_list(endpoints, "subsets", subsets_of(addresses, port)) || changed;
}

bool add_kubernetes_address(Object& endpoints, const std::string& address, int port, int servers) {
  const bool changed = skip_mirroring(endpoints);
  Object* subset = only_subset(endpoints);
  if (subset == nullptr) return set_list(endpoints, "subsets", subsets_of({address}, port)) || changed;
  Array& addresses = ensure_array(*subset, "addresses");
  const auto most = static_cast<std::size_t>(std::max(servers, 1));
  const auto is_own = [&](const Value& each) { return ip_of(each) == address; };
  const bool has_own = std::any_of(addresses.begin(), addresses.end(), is_own);
  if (has_own && addresses.size() <= most) return changed;
  if (!has_own) addresses.push_back(address_value(address));
  std::stable_sort(addresses.begin(), addresses.end(), [](const Value& a, const Value& b) { return ip_of(a) < ip_of(b); });
  const auto own = std::find_if(addresses.begin(), addresses.end(), is_own);
  trim_addresses(addresses, static_cast<std::size_t>(own - addresses.begin()), most);
  return true;
}

bool remove_kubernetes_address(Object& endpoints, const std::string& address) {
  if (first_subset(endpoints) == nullptr) return false;
  Array& subsets = find(endpoints, "subsets")->get_array();
  Object& subset = subsets.front().get_object();
  Array& addresses = ensure_array(subset, "addresses");
  const auto others = std::remove_if(addresses.begin(), addresses.end(), [&](const Value& each) { return ip_of(each) == address; });
  if (others == addresses.end()) return false;
  addresses.erase(others, addresses.end());
  if (!addresses.empty()) return true;
  erase_member(subset, "addresses");
  // A subset without any address is useless and invalid.
  if (get_array(subset, "notReadyAddresses") == nullptr) subsets.erase(subsets.begin());
  if (subsets.empty()) erase_member(endpoints, "subsets");
  return true;
}

std::string_view kubernetes_slice_type(const Object& endpoints) {
  const Object* subset = first_subset(endpoints);
  bool any = false;
  for (const std::string_view member : {"addresses", "notReadyAddresses"}) {
    const Array* addresses = subset != nullptr ? get_array(*subset, member) : nullptr;
    if (addresses == nullptr) continue;
    for (const Value& address : *addresses) {
      if (type_of(ip_of(address)) == "IPv4") return "IPv4";
      any = true;
    }
  }
  return any ? "IPv6" : "IPv4";
}

bool set_kubernetes_slice(Object& slice, const Object& endpoints) {
  Object labels;
  labels["kubernetes.io/service-name"] = "kubernetes";
  Object& metadata = ensure_object(slice, "metadata");
  bool changed = object_or_empty(metadata, "labels") != labels;
  metadata["labels"] = std::move(labels);
  Array list, ports;
  if (const Object* subset = first_subset(endpoints)) {
    const std::string_view type = kubernetes_slice_type(endpoints);
    add_endpoints(list, *subset, "addresses", type);
    add_endpoints(list, *subset, "notReadyAddresses", type);
    ports = slice_ports(*subset);
  }
  changed = set_list(slice, "endpoints", std::move(list)) || changed;
  return set_list(slice, "ports", std::move(ports)) || changed;
}

}  // namespace backplane::core
