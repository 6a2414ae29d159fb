// Endpoint slices.
#include <algorithm>
#include <set>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/kit/group.hpp"
#include "backplane/kit/strategy.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/types/deep_equal.hpp"
#include "backplane/types/ip_addresses.hpp"
#include "backplane/types/names.hpp"
#include "discovery_group_json.hpp"
#include "discovery_v1_json.hpp"
#include "kinds.hpp"

namespace backplane::discovery {
namespace {

using namespace kit;

constexpr std::string_view kHostname = "kubernetes.io/hostname";
constexpr std::size_t kMostTopology = 16, kShown = 3;

// ---- addresses

// Refuses an address of a special range, such as loopback. The rule is that of the core group's EndpointAddress.
void check_reachable(const std::string& address, const std::string& path, FieldErrors& errors) {
  const Schema* type = core_schemas()->find("io.k8s.api.core.v1.EndpointAddress");
  Object probe;
  probe["ip"] = address;
  FieldErrors found;
  type->check(probe, nullptr, ObjectPart::kWhole, "", found);
  for (const FieldError& error : found.list()) errors.add({error.type, path, error.text});
}

void check_ip(const std::string& address, bool six, const Problems& problems, const std::string& list, std::size_t i, FieldErrors& errors) {
  for (const std::string& problem : problems) errors.invalid(at(list, i), address, problem);
  if (!problems.empty()) return;
  const bool is_six = address.find(':') != std::string::npos;
  if (is_six != six) errors.invalid(list, address, six ? "must be an IPv6 address" : "must be an IPv4 address");
  check_reachable(address, at(list, i), errors);
}

Problems canonical_problems(std::string_view text) {
  Problems out = legacy_ip_problems(text);
  if (!out.empty()) return out;
  const std::string canonical = print_ip(*parse_ip(text));
  return text == canonical ? Problems() : Problems{"must be in canonical form (" + quoted(canonical) + ")"};
}

void check_domain(std::string_view name, const std::string& path, FieldErrors& errors) {
  if (name.empty()) return errors.required(path);
  if (name.ends_with('.')) name.remove_suffix(1);
  if (const Problems problems = is_dns1123_subdomain(name); !problems.empty()) return errors.invalid(path, name, joined(problems));
  if (name.find('.') == std::string_view::npos) {
    return errors.invalid(path, name, "should be a domain with at least two segments separated by dots");
  }
  for (std::string_view rest = name;;) {
    const std::string_view label = rest.substr(0, rest.find('.'));
    if (const Problems problems = is_dns1123_label(label); !problems.empty()) return errors.invalid(path, label, joined(problems));
    if (label.size() == rest.size()) return;
    rest.remove_prefix(label.size() + 1);
  }
}

void check_addresses(const Object& endpoint, std::string_view type, const std::string& path, FieldErrors& errors) {
  each_text(endpoint, "addresses", [&](std::string_view text, std::size_t i) {
    const std::string address(text);
    if (type == "IPv4") check_ip(address, false, legacy_ip_problems(address), path, i, errors);
    if (type == "IPv6") check_ip(address, true, canonical_problems(address), path, i, errors);
    if (type == "FQDN") check_domain(address, at(path, i), errors);
  });
}

// ---- topology: a map in older versions instead of nodeName and zone

std::set<std::string> hostnames_of(const Object& slice) {
  std::set<std::string> out;
  each(slice, "endpoints", [&](const Object& endpoint, std::size_t) {
    const std::string_view host = get_string(object_or_empty(endpoint, "deprecatedTopology"), kHostname);
    if (!host.empty()) out.emplace(host);
  });
  return out;
}

// Removes the map, which v1 does not have. Copies a node name that only the map contains, if it is in `known`.
void drop_topology(Object& slice, const std::set<std::string>& known) {
  each_mutable(slice, "endpoints", [&](Object& endpoint) {
    const std::string host(get_string(object_or_empty(endpoint, "deprecatedTopology"), kHostname));
    const bool moves = !has(endpoint, "nodeName") && known.contains(host) && is_dns1123_subdomain(host).empty();
    if (moves) endpoint["nodeName"] = host;
    erase_member(endpoint, "deprecatedTopology");
  });
}

bool same_but_metadata(const Object& a, const Object& b) {
  const auto shown = [](const Object& object) -> Value {
    Object out(object);
    out["metadata"] = object_or_empty(object_or_empty(object, "metadata"), "labels");
    return out;
  };
  const Value left = shown(a), right = shown(b);
  return alike(&left, &right);
}

class EndpointSliceStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;
  void canonicalize(Object& object) const override {
    null_when_empty(object, "endpoints");
    null_when_empty(object, "ports");
  }

 protected:
  void prepare_create(Object& object) const override {
    ObjectMeta(object).set_generation(1);
    drop_topology(object, {});
  }
  // The kind has no spec. A change of the labels, or of any member except metadata, increments the generation.
  void prepare_update(Object& object, const Object& old) const override {
    const bool changed = !same_but_metadata(object, old);
    if (changed) ObjectMeta(object).set_generation(ObjectMeta(const_cast<Object&>(old)).generation() + 1);  // only read
    if (!same_member(object, old, "endpoints")) drop_topology(object, hostnames_of(old));
  }
  void check_new(const Object& object, FieldErrors& errors) const override { check_endpoints(object, errors); }
  void check_change(const Object& object, const Object& old, FieldErrors& errors) const override {
    if (!same_member(object, old, "endpoints")) check_endpoints(object, errors);
  }

 private:
  static void check_endpoints(const Object& object, FieldErrors& errors) {
    constexpr std::size_t kMost = 1000;
    if (count_of(object, "endpoints") > kMost) return;  // the schema reports it
    const std::string_view type = get_string(object, "addressType");
    each(object, "endpoints", [&](const Object& endpoint, std::size_t i) {
      const std::string path = at("endpoints", i);
      check_addresses(endpoint, type, at(path, "addresses"), errors);
      const std::size_t topology = object_or_empty(endpoint, "deprecatedTopology").size();
      if (topology > kMostTopology) {
        errors.too_many(at(path, "deprecatedTopology"), static_cast<long long>(topology), static_cast<long long>(kMostTopology));
      }
    });
  }
};

// ---- columns

std::string shown_of(std::vector<std::string> all) {
  const std::size_t count = all.size();
  all.resize(std::min(count, kShown));
  std::string out = joined(all);
  if (count > kShown) return out + " + " + std::to_string(count - kShown) + " more...";
  return out.empty() ? "<unset>" : out;
}

void print_ports(const Object& object, std::int64_t, Array& cells) {
  std::vector<std::string> all;
  each(object, "ports", [&](const Object& port, std::size_t) {
    const auto number = get_int(port, "port");
    all.push_back(number ? std::to_string(*number) : has(port, "name") ? std::string(get_string(port, "name")) : "*");
  });
  cells.emplace_back(shown_of(std::move(all)));
}

void print_addresses(const Object& object, std::int64_t, Array& cells) {
  std::vector<std::string> all;
  each(object, "endpoints", [&](const Object& endpoint, std::size_t) {
    each_text(endpoint, "addresses", [&](std::string_view address, std::size_t) { all.emplace_back(address); });
  });
  cells.emplace_back(shown_of(std::move(all)));
}

}  // namespace

Result<std::vector<std::shared_ptr<const SchemaSet>>> discovery_schemas() { return embedded_schemas({discovery_v1_json()}); }

Result<GroupDocument> discovery_group() {
  return read_group(discovery_group_json(), {.printers = {{"ports", print_ports}, {"addresses", print_addresses}},
                                             .kinds = {{"EndpointSlice", {.make = made<EndpointSliceStrategy>()}}}});
}

}  // namespace backplane::discovery
