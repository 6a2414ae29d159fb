// Nodes.
#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <vector>

#include "backplane/core/json_access.hpp"
#include "backplane/kit/path.hpp"
#include "backplane/kit/strategy.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/types/schema.hpp"
#include "backplane/workload/resources.hpp"
#include "kinds/kinds.hpp"
#include "kinds/node_annotations.hpp"

namespace backplane::core {
namespace {

using namespace kit;

Value show_roles(const Value* labels, std::int64_t) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  if (labels == nullptr || !labels->is_object()) return "<none>";
  std::set<std::string> roles;
  for (const auto& label : labels->get_object()) {
    const std::string_view key = label.key();
    if (key.starts_with(kPrefix) && key.size() > kPrefix.size()) roles.emplace(key.substr(kPrefix.size()));
    if (key == "kubernetes.io/role" && !text_of(label.value()).empty()) roles.emplace(text_of(label.value()));
  }
  return Value(roles.empty() ? "<none>" : joined({roles.begin(), roles.end()}));
}

// Returns true for a name of a feature gate, which may have parts after slashes: "MyFeature/mySubFeature".
bool is_feature_name(std::string_view name) {
  if (name.empty() || name.front() < 'A' || name.front() > 'Z' || name.back() == '/') return false;
  for (std::size_t i = 1; i < name.size(); ++i) {
    const auto letter = static_cast<unsigned char>(name[i]);
    const bool first = name[i - 1] == '/';
    if (name[i] == '/' ? first : first ? std::isalpha(letter) == 0 : std::isalnum(letter) == 0) return false;
  }
  return true;
}

// Each item must be a name; the items must be sorted and unique.
void check_features(const Object& node, FieldErrors& errors) {
  constexpr std::size_t kLongest = 253;
  const std::vector<std::string> names = texts_of(object_or_empty(node, "status"), "declaredFeatures");
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string prefix = "invalid feature name " + quoted(names[i]) + ": must ";
    const std::string place = at("status.declaredFeatures", i);
    if (names[i].size() > kLongest) {
      errors.invalid(place, names[i], prefix + "be no more than " + std::to_string(kLongest) + " characters");
    } else if (!is_feature_name(names[i])) {
      errors.invalid(place, names[i],
                     prefix +
                         "start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or "
                         "MyFeature/mySubFeature), and contain only alphanumeric characters and slashes");
    }
    if (i == 0 || names[i - 1] < names[i]) continue;
    if (names[i - 1] == names[i])
      errors.duplicate(place, names[i]);
    else
      errors.invalid(place, names[i], "list must be sorted alphabetically");
  }
}

// Removes the deprecated `member` of `part` (spec or status), unless the old object has it.
void drop_unused(Object& object, const Object& old, std::string_view part, std::string_view member) {
  if (has(object, part) && !has(object_or_empty(old, part), member)) erase_member(ensure_object(object, part), member);
}

// Refuses an address that is listed twice.
void check_addresses(const Object& node, FieldErrors& errors) {
  std::set<std::pair<std::string, std::string>> seen;
  const Schema* type = core_schemas()->find("io.k8s.api.core.v1.NodeAddress");
  each(object_or_empty(node, "status"), "addresses", [&](const Object& address, std::size_t i) {
    if (seen.emplace(get_string(address, "type"), get_string(address, "address")).second) return;
    errors.add({FieldErrorType::kDuplicate, at("status.addresses", i), "Duplicate value: " + to_json(type->go_struct(address))});
  });
}

class NodeStatusStrategy final : public StatusStrategy {
 public:
  using StatusStrategy::StatusStrategy;
  void prepare_for_update(RequestContext& context, Object& object, const Object& old) const override {
    StatusStrategy::prepare_for_update(context, object, old);
    drop_unused(object, old, "status", "config");
  }

 protected:
  void check_status(const Object& object, const Object&, FieldErrors& errors) const override {
    check_features(object, errors);
    check_node_annotations(object, errors);
    check_addresses(object, errors);
  }
};

// If one of several ranges is invalid, upstream cannot determine the families of the ranges and reports an additional internal error.
void check_families(const Object& node, FieldErrors& errors) {
  const std::vector<std::string> ranges = texts_of(object_or_empty(node, "spec"), "podCIDRs");
  for (std::size_t i = 0; ranges.size() > 1 && i < ranges.size(); ++i) {
    const std::string place = at("spec.podCIDRs", i);
    const auto blamed = [&](const FieldError& error) {
      return error.field == place && error.text.find("must be a valid CIDR value") != std::string::npos;
    };
    if (std::none_of(errors.list().begin(), errors.list().end(), blamed)) continue;
    return errors.internal("spec.podCIDRs", "invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[" +
                                                std::to_string(i) + "]: <nil> (invalid CIDR address: " + ranges[i] + ")");
  }
}

// The strategy of nodes. A create may set the status, too, such as the capacity.
class NodeStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;

 protected:
  void prepare_create(Object& object) const override {
    drop_unused(object, {}, "spec", "configSource");
    drop_unused(object, {}, "status", "config");
  }
  void prepare_update(Object& object, const Object& old) const override { drop_unused(object, old, "spec", "configSource"); }
  void check(const Object& object, FieldErrors& errors) const override {
    check_node_annotations(object, errors);
    check_families(object, errors);
  }
  // Upstream runs this check twice on update, so its errors are reported twice.
  void check_change(const Object& object, const Object&, FieldErrors& errors) const override { check_node_annotations(object, errors); }
  void check_new(const Object& object, FieldErrors& errors) const override { check_features(object, errors); }
};

}  // namespace

void add_nodes(GroupCode& code) {
  code.kinds["Node"] = {.make = made<NodeStrategy>(), .make_status = made_status<NodeStatusStrategy>};
  code.printers.emplace("nodeRoles", show_roles);
}

}  // namespace backplane::core
