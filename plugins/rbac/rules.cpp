#include "rules.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "backplane/core/json_access.hpp"
#include "backplane/core/status.hpp"

namespace backplane::rbac {
namespace {

using Texts = std::vector<std::string>;

// One verb on one resource, or on one URL. A null pointer: the rule does not have this part.
struct Act {
  std::string_view verb;
  const std::string* group = nullptr;
  const std::string* resource = nullptr;
  const std::string* name = nullptr;  // null: any name
  const std::string* url = nullptr;
};

bool names(const Texts& list, std::string_view text) { return std::find(list.begin(), list.end(), text) != list.end(); }
bool names_or_all(const Texts& list, std::string_view text) { return names(list, "*") || names(list, text); }

// Returns true if `resource` is in the list. "*/scale" matches this subresource of any resource.
bool covers_resource(const Texts& resources, std::string_view resource) {
  if (names_or_all(resources, resource)) return true;
  const auto slash = resource.find('/');
  return slash != std::string_view::npos && names(resources, "*" + std::string(resource.substr(slash)));
}

bool covers(const PolicyRule& rule, const Act& act) {
  if (!names_or_all(rule.verbs, act.verb)) return false;
  if (act.url != nullptr) {
    return rule.resource_names.empty() &&
           std::any_of(rule.urls.begin(), rule.urls.end(), [&](const std::string& have) { return matches_url(have, *act.url); });
  }
  return names_or_all(rule.api_groups, *act.group) && covers_resource(rule.resources, *act.resource) &&
         (rule.resource_names.empty() || (act.name != nullptr && names(rule.resource_names, *act.name)));
}

template <class Visit>
void each_act(const PolicyRule& rule, Visit visit) {
  for (const std::string& group : rule.api_groups) {
    for (const std::string& resource : rule.resources) {
      for (const std::string& verb : rule.verbs) {
        for (const std::string& name : rule.resource_names) visit(Act{verb, &group, &resource, &name, nullptr});
        if (rule.resource_names.empty()) visit(Act{verb, &group, &resource, nullptr, nullptr});
      }
    }
  }
  for (const std::string& url : rule.urls) {
    for (const std::string& verb : rule.verbs) visit(Act{verb, nullptr, nullptr, nullptr, &url});
  }
}

PolicyRule rule_of(const Act& act) {
  const auto one = [](const std::string* text) { return text != nullptr ? Texts{*text} : Texts{}; };
  return {{std::string(act.verb)}, one(act.group), one(act.resource), one(act.name), one(act.url)};
}

PolicyRule read_rule(const Object& rule) {
  return {texts_of(rule, "verbs"), texts_of(rule, "apiGroups"), texts_of(rule, "resources"), texts_of(rule, "resourceNames"),
          texts_of(rule, "nonResourceURLs")};
}

// Go's %q of a slice of strings.
std::string quoted_list(const Texts& texts) {
  std::string out = "[";
  for (const std::string& text : texts) out.append(out.size() > 1 ? " " : "").append(backplane::quoted(text));
  return out + "]";
}

std::string described(const PolicyRule& rule) {
  std::string out;
  const auto add = [&out](std::string_view name, const Texts& texts) {
    if (texts.empty()) return;
    out.append(out.empty() ? "" : ", ").append(name).append(":").append(quoted_list(texts));
  };
  add("APIGroups", rule.api_groups);
  add("Resources", rule.resources);
  add("NonResourceURLs", rule.urls);
  add("ResourceNames", rule.resource_names);
  add("Verbs", rule.verbs);
  return "{" + out + "}";
}

}  // namespace

PolicyRules rules_in(const Array& rules) {
  PolicyRules out;
  out.reserve(rules.size());
  for (const Value& each : rules) {
    if (const Object* rule = each.if_object()) out.push_back(read_rule(*rule));
  }
  return out;
}

PolicyRules rules_of(const Object& role) {
  const Array* rules = get_array(role, "rules");
  return rules != nullptr ? rules_in(*rules) : PolicyRules();
}

Array to_json_rules(const PolicyRules& rules) {
  Array out;
  for (const PolicyRule& rule : rules) {
    Object& object = out.emplace_back(Object()).get_object();
    const auto put = [&object](std::string_view member, const Texts& texts) {
      if (!texts.empty()) object[member] = Array(texts.begin(), texts.end());
    };
    put("verbs", rule.verbs);
    put("apiGroups", rule.api_groups);
    put("resources", rule.resources);
    put("resourceNames", rule.resource_names);
    put("nonResourceURLs", rule.urls);
  }
  return out;
}

bool matches_url(std::string_view prefix, std::string_view url) noexcept {
  return prefix == url || (prefix.ends_with('*') && url.starts_with(prefix.substr(0, prefix.find_last_not_of('*') + 1)));
}

PolicyRules missing_rules(const PolicyRules& have, const PolicyRules& wanted) {
  PolicyRules out;
  if (have == wanted) return out;
  for (const PolicyRule& rule : wanted) {
    each_act(rule, [&](const Act& act) {
      if (std::none_of(have.begin(), have.end(), [&](const PolicyRule& own) { return covers(own, act); })) out.push_back(rule_of(act));
    });
  }
  return out;
}

std::vector<std::string> described(const PolicyRules& missing) {
  std::map<std::tuple<std::string, std::string, Texts>, PolicyRule> by_resource;
  std::set<std::string> lines;
  for (const PolicyRule& rule : missing) {
    if (!rule.urls.empty()) {
      lines.insert(described(rule));
      continue;
    }
    const auto [at, added] = by_resource.try_emplace({rule.api_groups.front(), rule.resources.front(), rule.resource_names}, rule);
    if (!added) at->second.verbs.insert(at->second.verbs.end(), rule.verbs.begin(), rule.verbs.end());
  }
  for (const auto& [resource, rule] : by_resource) lines.insert(described(rule));
  return {lines.begin(), lines.end()};
}

}  // namespace backplane::rbac
