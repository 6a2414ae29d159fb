#include "backplane/workload/volume_sources.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "backplane/core/json_access.hpp"
#include "backplane/types/names.hpp"
#include "pod_parts.hpp"

namespace backplane::workload {

using namespace kit;

namespace {

constexpr std::size_t kMaxTenant = 64;
constexpr std::size_t kMaxPortalName = 64;

constexpr std::string_view kPortalText =
    "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.";

// A source, its path, and the name of the persistent volume (empty for a volume of a pod).
struct Source {
  const Object& source;
  const Path& path;
  std::string_view volume;

  bool persistent() const noexcept { return !volume.empty(); }
  std::string_view text(std::string_view member) const { return get_string(source, member); }
};

bool is_alnum(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// True for a prefix, one character, and `count` letters and digits.
bool is_numbered_name(std::string_view text, std::size_t count) {
  return text.size() == count + 4 && std::all_of(text.begin() + 4, text.end(), is_alnum);
}

// True if the text contains a name such as "iqn.2001-04.com.example:storage".
bool is_qualified_name(std::string_view text) {
  for (std::size_t at = text.find("iqn."); at != std::string_view::npos; at = text.find("iqn.", at + 1)) {
    std::string_view rest = text.substr(at + 4);
    const bool dated = rest.size() > 8 && std::all_of(rest.begin(), rest.begin() + 4, is_digit) && rest[4] == '-' && is_digit(rest[5]) &&
                       is_digit(rest[6]) && rest[7] == '.';
    if (!dated) continue;
    rest.remove_prefix(8);
    const auto colon = rest.find(':');
    if (colon == 0 || colon == std::string_view::npos || colon + 1 == rest.size()) continue;
    const std::string_view authority = rest.substr(0, colon), name = rest.substr(colon + 1);
    const auto plain = [](char c) { return is_alnum(c) || c == '-' || c == '.'; };
    if (!std::all_of(authority.begin(), authority.end(), plain)) continue;
    if (name.find_first_of(",;*&$| \t\n\r\f\v") == std::string_view::npos) return true;
  }
  return false;
}

// Checks an iSCSI name, which has one of three formats. For other names, the error for a volume of a pod is longer.
void check_iscsi_name(std::string_view name, const Path& path, bool persistent, FieldErrors& errors) {
  const bool iqn = name.starts_with("iqn"), eui = name.starts_with("eui"), naa = name.starts_with("naa");
  if (!iqn && !eui && !naa) {
    errors.invalid(path, name, persistent ? "must be valid format" : "must be valid format starting with iqn, eui, or naa");
  } else if (!(iqn ? is_qualified_name(name) : is_numbered_name(name, eui ? 16 : 32))) {
    errors.invalid(path, name, "must be valid format");
  }
}

void check_iscsi(const Source& in, FieldErrors& errors) {
  const bool named = has(in.source, "initiatorName");
  const std::string_view portal = in.text("targetPortal"), name = in.text("iqn");
  if (in.persistent() && named && in.volume.size() + 1 + portal.size() > kMaxPortalName) {
    errors.invalid(in.path.at("targetportal"), portal, kPortalText);
  }
  if (!name.empty()) check_iscsi_name(name, in.path.at("iqn"), in.persistent(), errors);
  if (named) check_iscsi_name(in.text("initiatorName"), in.path.at("initiatorname"), in.persistent(), errors);
}

// Like net.SplitHostPort: true for a host and a port with one colon between them, or for an address in brackets, a colon and a port.
bool is_host_and_port(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return false;
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  if (host.starts_with('[')) {
    if (!host.ends_with(']')) return false;
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return false;
  }
  return host.find_first_of("[]") == std::string_view::npos && port.find_first_of("[]") == std::string_view::npos;
}

void check_quobyte(const Source& in, FieldErrors& errors) {
  constexpr std::string_view kPairs = "must be a host:port pair or multiple pairs separated by commas";
  const std::string_view registry = in.text("registry");
  const Path path = in.path.at("registry");
  if (registry.empty()) {
    errors.required(path, kPairs);
  } else if (in.text("tenant").size() > kMaxTenant) {
    errors.required(in.path.at("tenant"), "must be a UUID and may not exceed a length of 64 characters");
  } else {
    for (std::size_t begin = 0; begin <= registry.size();) {
      const std::size_t end = std::min(registry.find(',', begin), registry.size());
      if (!is_host_and_port(registry.substr(begin, end - begin))) errors.invalid(path, registry, kPairs);
      begin = end + 1;
    }
  }
}

void check_flex(const Source& in, FieldErrors& errors) {
  const Path path = in.path.at("options");
  for (const auto& option : object_or_empty(in.source, "options")) {
    const std::string_view key = option.key();
    std::string domain = "." + std::string(key.substr(0, key.find('/')));
    std::transform(domain.begin(), domain.end(), domain.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
    if (!domain.ends_with(".kubernetes.io") && !domain.ends_with(".k8s.io")) continue;
    errors.invalid(path.at_key(key), key, "kubernetes.io and k8s.io namespaces are reserved");
  }
}

void check_azure_disk(const Source& in, FieldErrors& errors) {
  const std::string_view kind = in.text("kind"), uri = in.text("diskURI");
  if (!has(in.source, "kind")) return;
  const Path path = in.path.at("diskURI");
  if (kind == "Managed" && !uri.starts_with("/subscriptions/")) {
    errors.not_supported(path, uri, {"/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"});
  }
  if (kind != "Managed" && !uri.starts_with("https://")) {
    errors.not_supported(path, uri, {"https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"});
  }
}

// As upstream, reports an invalid secret name at a different path.
void check_csi(const Source& in, FieldErrors& errors) {
  const Object* secret = get_object(in.source, "nodePublishSecretRef");
  if (secret == nullptr || in.persistent()) return;
  const std::string_view name = get_string(*secret, "name");
  const Path path = in.path.at("nodePublishSecretRef");
  if (name.empty()) {
    errors.required(path.at("name"));
  } else {
    add_problems(is_dns1123_subdomain(name), in.path.at("name"), name, errors);
  }
}

struct Row {
  std::string_view member;
  void (*check)(const Source&, FieldErrors&);
};
constexpr std::array<Row, 5> kRows = {
    {{"iscsi", check_iscsi}, {"flexVolume", check_flex}, {"quobyte", check_quobyte}, {"azureDisk", check_azure_disk}, {"csi", check_csi}}};

// True if the schema has reported the source at `place` as a second one. A second source is not checked.
bool is_forbidden(const std::string& place, const FieldErrors& errors) {
  return std::any_of(errors.list().begin(), errors.list().end(),
                     [&](const FieldError& error) { return error.type == FieldErrorType::kForbidden && error.field == place; });
}

}  // namespace

void validate_portal_length(std::string_view volume_name, std::string_view portal, const Path& path, FieldErrors& errors) {
  if (volume_name.size() + 1 + portal.size() > kMaxPortalName) errors.invalid(path, volume_name, kPortalText);
}

void validate_volume_source(const Object& holder, const Path& path, std::string_view volume_name, FieldErrors& errors) {
  for (const auto& member : holder) {
    const Object* source = member.value().if_object();
    const auto row = std::find_if(kRows.begin(), kRows.end(), [&](const Row& each) { return each.member == member.key(); });
    if (source == nullptr || row == kRows.end()) continue;
    const Path place = path.at(row->member);
    if (is_forbidden(place, errors)) continue;
    row->check({*source, place, volume_name}, errors);
    return;
  }
}

}  // namespace backplane::workload
