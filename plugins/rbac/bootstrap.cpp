#include "bootstrap.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "backplane/core/json_access.hpp"
#include "backplane/types/json_reading.hpp"
#include "rbac_bootstrap_json.hpp"
#include "roles.hpp"

namespace backplane::rbac {
namespace {

using namespace kit;

using IsOn = BootstrapPolicy::IsOn;

struct Kind {
  std::string_view resource, name;
};
constexpr std::array<Kind, 4> kKinds = {
    {{kClusterRoles, "ClusterRole"}, {kClusterRoleBindings, "ClusterRoleBinding"}, {kRoles, "Role"}, {kRoleBindings, "RoleBinding"}}};

bool is_there(const Object& row, const IsOn& is_on) {
  bool out = true;
  each_text(row, "gates", [&](std::string_view gate, std::size_t) { out = out && is_on(gate); });
  return out;
}

Object rule_of(const Object& row, const IsOn& is_on) {
  Object out(row);
  erase_member(out, "gates");
  if (!erase_member(out, "gatedURLs")) return out;
  Array& urls = ensure_array(out, "nonResourceURLs");
  for (const auto& [gate, url] : object_or_empty(row, "gatedURLs")) {
    if (is_on(gate)) urls.push_back(url);
  }
  std::sort(urls.begin(), urls.end(), [](const Value& a, const Value& b) { return text_of(a) < text_of(b); });
  return out;
}

Object metadata_of(const Object& document, const Object& row) {
  Object out;
  out["name"] = get_string(row, "name");
  if (has(row, "namespace")) out["namespace"] = get_string(row, "namespace");
  Object& labels = ensure_object(out, "labels");
  labels = object_or_empty(document, "labels");
  for (const auto& [key, value] : object_or_empty(row, "labels")) labels[key] = value;
  out["annotations"] = object_or_empty(document, "annotations");
  return out;
}

void add_rules(const Object& row, const IsOn& is_on, Object& out) {
  if (has(row, "aggregationRule")) out["aggregationRule"] = row.at("aggregationRule");
  Array rules;
  each(row, "rules", [&](const Object& rule, std::size_t) {
    if (is_there(rule, is_on)) rules.push_back(rule_of(rule, is_on));
  });
  if (!rules.empty()) out["rules"] = std::move(rules);
}

void add_subjects(const Object& row, Object& out) {
  if (has(row, "subjects")) out["subjects"] = row.at("subjects");
  if (has(row, "roleRef")) {
    out["roleRef"] = row.at("roleRef");
  } else {
    out["roleRef"] = Object{{"kind", "ClusterRole"}, {"name", get_string(row, "name")}};
  }
}

std::shared_ptr<const SchemaSet> schemas() {
  auto all = rbac_schemas();
  if (!all.ok()) throw std::logic_error(all.status().message());
  return all->front();
}

Value document() {
  auto read = read_json(rbac_bootstrap_json());
  if (!read || !read->is_object()) throw std::logic_error("the bootstrap roles are not a JSON object");
  return std::move(*read);
}

}  // namespace

BootstrapPolicy::BootstrapPolicy(IsOn is_on) : is_on_(std::move(is_on)), schemas_(schemas()), document_(document()) {
  for (const Kind& kind : kKinds) {
    each(document_.get_object(), kind.resource, [&](const Object& row, std::size_t) {
      if (is_there(row, is_on_)) rows_.push_back({kind.resource, kind.name, &row});
    });
  }
}

std::string BootstrapPolicy::selector() const {
  std::string out;
  for (const auto& [key, value] : object_or_empty(document_.get_object(), "labels")) {
    out.append(out.empty() ? "" : ",").append(key).append("=").append(text_of(value));
  }
  return out;
}

Delivered BootstrapPolicy::at(std::size_t index) const {
  const auto& [resource, kind, row] = rows_[index];
  Object object;
  object["apiVersion"] = std::string(kGroup) + "/v1";
  object["kind"] = kind;
  object["metadata"] = metadata_of(document_.get_object(), *row);
  if (resource == kClusterRoles || resource == kRoles) {
    add_rules(*row, is_on_, object);
  } else {
    add_subjects(*row, object);
  }
  Value whole(std::move(object));
  schemas_->find(GroupVersionKind{std::string(kGroup), "v1", std::string(kind)})->apply_defaults(whole);
  return {resource, std::string(ns(index)), std::string(get_string(*row, "name")), std::move(whole.get_object()),
          std::string(get_string(*row, "successorOf"))};
}

}  // namespace backplane::rbac
