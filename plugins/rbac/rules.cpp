#include "rules.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json_access.hpp"

namespace backplane::rbac {
namespace {

using Texts = std::vector<std::string_view>;

Texts texts(const Object& rule, std::string_view member) {
  Texts out;
  each_text(rule, member, [&](std::string_view text, std::size_t) { out.push_back(text); });
  return out;
}

// Borrows the texts of the rule that it was made of.
struct Rule {
  explicit Rule(const Object& rule)
      : verbs(texts(rule, "verbs")),
        groups(texts(rule, "apiGroups")),
        resources(texts(rule, "resources")),
        names(texts(rule, "resourceNames")),
        urls(texts(rule, "nonResourceURLs")) {}
  Texts verbs, groups, resources, names, urls;
};

// One verb on one resource, or on one URL.  A pointer that is null: nothing of this sort is asked.
struct Act {
  std::string_view verb;
  const std::string_view* group = nullptr;
  const std::string_view* resource = nullptr;
  const std::string_view* name = nullptr;  // null: whatever its name
  const std::string_view* url = nullptr;
};

bool names(const Texts& list, std::string_view text) { return std::find(list.begin(), list.end(), text) != list.end(); }
bool names_or_all(const Texts& list, std::string_view text) { return names(list, "*") || names(list, text); }

// "*/scale" stands for that subresource of whatever resource.
bool covers_resource(const Texts& resources, std::string_view resource) {
  if (names_or_all(resources, resource)) return true;
  const auto slash = resource.find('/');
  return slash != std::string_view::npos && names(resources, "*" + std::string(resource.substr(slash)));
}

bool covers_url(const Texts& urls, std::string_view url) {
  return std::any_of(urls.begin(), urls.end(), [url](std::string_view have) {
    return have == url || (have.ends_with('*') && url.starts_with(have.substr(0, have.find_last_not_of('*') + 1)));
  });
}

bool covers(const Rule& rule, const Act& act) {
  if (!names_or_all(rule.verbs, act.verb)) return false;
  if (act.url != nullptr) return covers_url(rule.urls, *act.url) && rule.names.empty();
  return names_or_all(rule.groups, *act.group) && covers_resource(rule.resources, *act.resource) &&
         (rule.names.empty() || (act.name != nullptr && names(rule.names, *act.name)));
}

template <class Visit>
void each_act(const Rule& rule, Visit visit) {
  for (const std::string_view& group : rule.groups) {
    for (const std::string_view& resource : rule.resources) {
      for (const std::string_view& verb : rule.verbs) {
        for (const std::string_view& name : rule.names) visit(Act{verb, &group, &resource, &name, nullptr});
        if (rule.names.empty()) visit(Act{verb, &group, &resource, nullptr, nullptr});
      }
    }
  }
  for (const std::string_view& url : rule.urls) {
    for (const std::string_view& verb : rule.verbs) visit(Act{verb, nullptr, nullptr, nullptr, &url});
  }
}

Object rule_of(const Act& act) {
  Object out;
  const auto put = [&out](std::string_view member, const std::string_view* text) {
    if (text != nullptr) out[member] = Array{Value(*text)};
  };
  put("verbs", &act.verb);
  put("apiGroups", act.group);
  put("resources", act.resource);
  put("resourceNames", act.name);
  put("nonResourceURLs", act.url);
  return out;
}

std::vector<Rule> rules_of(const Array& list) {
  std::vector<Rule> out;
  for (const Value& each : list) {
    if (const Object* rule = each.if_object()) out.emplace_back(*rule);
  }
  return out;
}

}  // namespace

Array missing_rules(const Array& have, const Array& wanted) {
  Array out;
  if (have == wanted) return out;
  const std::vector<Rule> owned = rules_of(have);
  for (const Rule& rule : rules_of(wanted)) {
    each_act(rule, [&](const Act& act) {
      if (std::none_of(owned.begin(), owned.end(), [&](const Rule& own) { return covers(own, act); })) out.push_back(rule_of(act));
    });
  }
  return out;
}

}  // namespace backplane::rbac
