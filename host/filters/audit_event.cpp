#include "filters/audit_event.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>

#include "backplane/core/json.hpp"
#include "backplane/types/ip_text.hpp"
#include "backplane/types/json_reading.hpp"

namespace backplane {
namespace {

constexpr std::size_t kMaxUserAgent = 1024;
constexpr std::string_view kManagedFields = "managedFields";

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Returns the address as Go prints it; an IPv4 address that is mapped into IPv6 becomes IPv4. The result is empty if `text` is not an
// address.
std::string canonical_ip(std::string_view text) {
  static constexpr unsigned char kMapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  unsigned char bytes[16];
  char out[INET6_ADDRSTRLEN];
  if (read_ipv4(text, bytes)) return inet_ntop(AF_INET, bytes, out, sizeof out);
  if (!read_ipv6(text, bytes)) return {};
  if (std::memcmp(bytes, kMapped, sizeof kMapped) == 0) return inet_ntop(AF_INET, bytes + sizeof kMapped, out, sizeof out);
  return inet_ntop(AF_INET6, bytes, out, sizeof out);
}

// Removes the port from "1.2.3.4:80" or "[::1]:80".
std::string_view host_of(std::string_view address) {
  if (const auto colon = address.rfind(':'); colon != std::string_view::npos) address = address.substr(0, colon);
  if (address.size() >= 2 && address.front() == '[' && address.back() == ']') address = address.substr(1, address.size() - 2);
  return address;
}

// Consecutive requests of a thread often have the same connection, so the last address is cached.
const std::string& remote_ip(std::string_view address) {
  thread_local std::string last_address, last_ip;
  if (last_address != address) {
    last_ip = canonical_ip(host_of(address));
    last_address = address;
  }
  return last_ip;
}

void erase_managed_fields(Value* object) {
  if (object == nullptr || !object->is_object()) return;
  if (Value* metadata = find(object->get_object(), "metadata"); metadata != nullptr && metadata->is_object()) {
    erase_member(metadata->get_object(), kManagedFields);
  }
}

template <class Of>
void erase_in_list(Object& list, std::string_view key, Of of) {
  Value* const items = find(list, key);
  if (items == nullptr || !items->is_array()) return;
  for (Value& item : items->get_array()) erase_managed_fields(of(item));
}

}  // namespace

std::vector<std::string> source_ips(const Exchange& exchange) {
  std::vector<std::string> ips;
  std::string_view forwarded = exchange.header("x-forwarded-for");
  while (!forwarded.empty()) {
    const auto comma = forwarded.find(',');
    std::string ip = canonical_ip(trimmed(forwarded.substr(0, comma)));
    if (!ip.empty()) ips.push_back(std::move(ip));
    forwarded.remove_prefix(comma == std::string_view::npos ? forwarded.size() : comma + 1);
  }
  std::string real = canonical_ip(exchange.header("x-real-ip"));
  if (!real.empty() && std::find(ips.begin(), ips.end(), real) == ips.end()) ips.push_back(std::move(real));
  const std::string& remote = remote_ip(exchange.remote_address());
  if (!remote.empty() && (ips.empty() || ips.back() != remote)) ips.push_back(remote);
  return ips;
}

std::shared_ptr<const AuditRequest> audit_request(const RequestContext& context, const Exchange& exchange) {
  using std::chrono::steady_clock;
  using std::chrono::system_clock;
  auto made = std::make_shared<AuditRequest>();
  AuditRequest& request = *made;
  request.audit_id = context.audit_id;
  request.request_uri = exchange.target();
  request.verb = context.info.verb;
  request.user = context.user;
  request.source_ips = source_ips(exchange);
  request.user_agent = std::string_view(context.user_agent).substr(0, kMaxUserAgent);
  if (context.user_agent.size() > kMaxUserAgent) request.user_agent += "...TRUNCATED";
  const auto age = std::chrono::duration_cast<system_clock::duration>(steady_clock::now() - context.received);
  request.received = system_clock::now() - age;
  const RequestInfo& info = context.info;
  request.resource_request = info.is_resource_request;
  if (!info.is_resource_request) return made;
  request.resource = info.resource;
  request.ns = info.ns;
  request.name = info.name;
  request.api_group = info.api_group;
  request.api_version = info.api_version;
  request.subresource = info.subresource;
  return made;
}

SharedBytes without_managed_fields(const SharedBytes& json) {
  if (json.view().find(kManagedFields) == std::string_view::npos) return json;
  std::optional<Value> tree = read_json(json.view());
  if (!tree || !tree->is_object()) return json;
  erase_managed_fields(&*tree);
  Object& object = tree->get_object();
  erase_in_list(object, "items", [](Value& item) { return &item; });
  erase_in_list(object, "rows", [](Value& row) { return row.is_object() ? find(row.get_object(), "object") : nullptr; });
  return SharedBytes(to_json(*tree));
}

}  // namespace backplane
