#include "connections/pods.hpp"

#include <algorithm>
#include <vector>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/types/ip_addresses.hpp"

namespace backplane::core {
namespace {

// The lists of containers, in the order in which upstream visits them.
constexpr const char* kContainerLists[] = {"initContainers", "containers", "ephemeralContainers"};

std::vector<std::string_view> names_in(const Object& pod, const char* list) {
  std::vector<std::string_view> out;
  const Array* containers = get_array(object_or_empty(pod, "spec"), list);
  if (containers == nullptr) return out;
  for (const Value& each : *containers) {
    if (each.is_object()) out.push_back(get_string(each.get_object(), "name"));
  }
  return out;
}

std::vector<std::string_view> all_names(const Object& pod) {
  std::vector<std::string_view> out;
  for (const char* list : kContainerLists) {
    const auto names = names_in(pod, list);
    out.insert(out.end(), names.begin(), names.end());
  }
  return out;
}

}  // namespace

Result<std::string> choose_container(const Object& pod, std::string_view wanted) {
  const std::string name(meta_name(pod));
  if (!wanted.empty()) {
    const auto names = all_names(pod);
    if (std::find(names.begin(), names.end(), wanted) != names.end()) return std::string(wanted);
    return bad_request("container " + std::string(wanted) + " is not valid for pod " + name);
  }
  const auto regular = names_in(pod, "containers");
  if (regular.size() == 1) return std::string(regular.front());
  if (regular.empty()) return bad_request("a container name must be specified for pod " + name);
  std::string choices = "[";
  for (const std::string_view each : all_names(pod)) choices.append(choices.size() > 1 ? " " : "").append(each);
  return bad_request("a container name must be specified for pod " + name + ", choose one of: " + choices + "]");
}

std::string_view node_of(const Object& pod) { return get_string_path(pod, "spec.nodeName"); }

Result<std::string> address_of(const Object& pod) {
  const Array* addresses = get_array(object_or_empty(pod, "status"), "podIPs");
  std::string out;
  if (addresses != nullptr && !addresses->empty() && (*addresses)[0].is_object()) out = get_string((*addresses)[0].get_object(), "ip");
  if (!is_global_unicast(out)) return bad_request("address not allowed");
  return out;
}

bool has_address(const Object& pod, std::string_view address) {
  const Array* addresses = get_array(object_or_empty(pod, "status"), "podIPs");
  return addresses != nullptr && std::any_of(addresses->begin(), addresses->end(), [&](const Value& each) {
           return each.is_object() && get_string(each.get_object(), "ip") == address;
         });
}

std::string first_port(const Object& pod) {
  const Array* containers = get_array(object_or_empty(pod, "spec"), "containers");
  if (containers == nullptr) return {};
  for (const Value& each : *containers) {
    const Array* ports = each.is_object() ? get_array(each.get_object(), "ports") : nullptr;
    if (ports == nullptr || ports->empty() || !(*ports)[0].is_object()) continue;
    return std::to_string(get_int((*ports)[0].get_object(), "containerPort").value_or(0));
  }
  return {};
}

Result<SchemeNamePort> split_scheme_name_port(std::string_view id, std::string_view what) {
  std::vector<std::string> parts(1);
  for (const char c : id) {
    if (c == ':') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  SchemeNamePort out;
  bool valid = parts.size() <= 3;
  if (valid && parts.size() == 3) {
    out.scheme = parts.front();
    parts.erase(parts.begin());
  }
  if (valid) {
    out.name = parts[0];
    if (parts.size() == 2) out.port = parts[1];
    const bool plain = std::all_of(out.port.begin(), out.port.end(), [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
    });
    valid = plain && !out.name.empty() && (out.scheme.empty() || out.scheme == "http" || out.scheme == "https");
  }
  if (!valid) return bad_request("invalid " + std::string(what) + " request " + quoted(id));
  return out;
}

bool is_global_unicast(std::string_view text) {
  const auto address = parse_ip(text);
  if (!address) return false;
  const auto& bytes = address->bytes;
  if (!address->six || address->mapped()) {
    const unsigned first = bytes[12], second = bytes[13];
    const bool all_ones = bytes[12] == 255 && bytes[13] == 255 && bytes[14] == 255 && bytes[15] == 255;
    const bool all_zeros = bytes[12] == 0 && bytes[13] == 0 && bytes[14] == 0 && bytes[15] == 0;
    const bool multicast = first >= 224 && first < 240, link_local = first == 169 && second == 254;
    return !all_ones && !all_zeros && first != 127 && !multicast && !link_local;
  }
  const bool low = std::all_of(bytes.begin(), bytes.end() - 1, [](std::uint8_t byte) { return byte == 0; }) && bytes[15] <= 1;
  const bool multicast = bytes[0] == 0xff, link_local = bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;
  return !low && !multicast && !link_local;
}

}  // namespace backplane::core
