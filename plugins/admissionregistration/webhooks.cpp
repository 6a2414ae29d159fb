// Configurations of webhooks, validating and mutating.
#include <algorithm>
#include <array>
#include <set>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/kit/strategy.hpp"
#include "backplane/types/names.hpp"
#include "kinds.hpp"
#include "rules.hpp"

namespace backplane::admissionregistration {
namespace {

using namespace kit;

constexpr std::array<std::string_view, 2> kNoSideEffects = {"None", "NoneOnDryRun"};
constexpr std::string_view kReviewVersions = "v1, v1beta1";

bool has_no_side_effects(const Object& hook) {
  return std::find(kNoSideEffects.begin(), kNoSideEffects.end(), get_string(hook, "sideEffects")) != kNoSideEffects.end();
}

bool names_known_version(const Object& hook) {
  const auto known = [](const std::string& version) { return version == "v1" || version == "v1beta1"; };
  const std::vector<std::string> versions = texts_of(hook, "admissionReviewVersions");
  return std::any_of(versions.begin(), versions.end(), known);
}

FieldErrors selector_problems(const Object& hook, const std::string& path) {
  FieldErrors out;
  for (const std::string_view key : {"namespaceSelector", "objectSelector"}) {
    if (const Object* selector = get_object(hook, key)) validate_label_selector(*selector, at(path, key), out);
  }
  return out;
}

// The checks that apply to an update: an error of the old object may be retained, because older versions validated less. The flag of that
// check is then false.
struct Strictness {
  bool side_effects = true, versions = true, names = true, conditions = true, values = true;
};

Strictness strictness_of(const Object& object, const Object& old) {
  Strictness out;
  std::set<std::string_view> names;
  each(old, "webhooks", [&](const Object& hook, std::size_t) {
    out.side_effects = out.side_effects && has_no_side_effects(hook);
    out.versions = out.versions && (names_known_version(hook) || count_of(hook, "admissionReviewVersions") == 0);
    out.names = names.insert(get_string(hook, "name")).second && out.names;
    out.values = out.values && selector_problems(hook, "").empty();
  });
  const auto conditions = [](const Object& holder) {
    std::vector<std::string> all;
    each(holder, "webhooks", [&](const Object& hook, std::size_t) {
      const Array* list = get_array(hook, "matchConditions");
      all.push_back(list != nullptr ? to_json(*list) : std::string());
    });
    return all;
  };
  out.conditions = conditions(object) != conditions(old);
  return out;
}

void check_name(const Object& hook, const std::string& path, FieldErrors& errors) {
  const std::string_view name = get_string(hook, "name");
  if (name.empty()) return;
  std::string problems;
  for (const std::string& problem : is_dns1123_subdomain(name)) problems += (problems.empty() ? "" : ",") + problem;
  if (problems.empty() && std::count(name.begin(), name.end(), '.') < 2) {
    problems = "should be a domain with at least three segments separated by dots";
  }
  if (!problems.empty()) errors.invalid(at(path, "name"), name, problems);
}

void check_side_effects(const Object& hook, bool strict, const std::string& path, FieldErrors& errors) {
  static const std::vector<std::string> kAll = {"None", "NoneOnDryRun", "Some", "Unknown"}, kNone = {"None", "NoneOnDryRun"};
  const std::vector<std::string>& allowed = strict ? kNone : kAll;
  const std::string_view effects = get_string(hook, "sideEffects");
  if (!has(hook, "sideEffects")) {
    std::string list;
    for (const std::string& each : allowed) list += (list.empty() ? "" : ", ") + each;
    return errors.required(at(path, "sideEffects"), "must specify one of " + list);
  }
  if (std::find(allowed.begin(), allowed.end(), effects) == allowed.end()) errors.not_supported(at(path, "sideEffects"), effects, allowed);
}

void check_selectors(const Object& hook, bool strict, const std::string& path, FieldErrors& errors) {
  const FieldErrors problems = selector_problems(hook, path);
  for (const FieldError& found : problems.list()) {
    const bool of_value = found.field.find(".values[") != std::string::npos;
    if (strict || !of_value) errors.add(found);
  }
}

void check_versions(const Object& hook, bool strict, const std::string& path, FieldErrors& errors) {
  if (count_of(hook, "admissionReviewVersions") == 0) return errors.required(path, "must specify one of " + std::string(kReviewVersions));
  std::set<std::string_view> seen;
  each_text(hook, "admissionReviewVersions", [&](std::string_view version, std::size_t i) {
    if (!seen.insert(version).second) return errors.invalid(at(path, i), version, "duplicate version");
    for (const std::string& problem : is_dns1035_label(version)) errors.invalid(at(path, i), version, problem);
  });
  if (!strict || names_known_version(hook)) return;
  errors.invalid_raw(path, to_json(*find(hook, "admissionReviewVersions")), "must include at least one of " + std::string(kReviewVersions));
}

void check_hooks(const Object& object, const Strictness& strict, FieldErrors& errors) {
  std::set<std::string_view> names;
  each(object, "webhooks", [&](const Object& hook, std::size_t i) {
    const std::string path = at("webhooks", i);
    check_name(hook, path, errors);
    check_operation_rules(hook, "rules", at(path, "rules"), errors);
    check_side_effects(hook, strict.side_effects, path, errors);
    check_selectors(hook, strict.values, path, errors);
    check_client_config(object_or_empty(hook, "clientConfig"), at(path, "clientConfig"), errors);
    if (strict.conditions) check_match_conditions(hook, {}, at(path, "matchConditions"), errors);
    check_versions(hook, strict.versions, at(path, "admissionReviewVersions"), errors);
    const std::string_view name = get_string(hook, "name");
    if (strict.names && !name.empty() && !names.insert(name).second) errors.duplicate(at(path, "name"), name);
  });
}

class WebhookConfigurationStrategy : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;

 protected:
  void prepare_update(Object& object, const Object& old) const override {
    if (!same_member(object, old, "webhooks")) ObjectMeta(object).set_generation(get_int_path(old, "metadata.generation").value_or(0) + 1);
  }
  void check_new(const Object& object, FieldErrors& errors) const override { check_hooks(object, {}, errors); }
  void check_change(const Object& object, const Object& old, FieldErrors& errors) const override {
    check_hooks(object, strictness_of(object, old), errors);
  }
};

}  // namespace

MakeStrategy make_webhook_configuration(bool reserved) { return made_kind<WebhookConfigurationStrategy>(reserved); }

}  // namespace backplane::admissionregistration
