#include "authorizer.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/core/status.hpp"
#include "bootstrap.hpp"

namespace backplane::rbac {
namespace {

PolicyRules rules_of_entry(const ObjectEntry& role) { return rules_of(decode(role, {})); }

// Appends a subject. Ignores subjects of other kinds, because they match no user.
void add_subject(const Object& subject, std::vector<Subject>& out) {
  const std::string_view kind = get_string(subject, "kind");
  const std::string_view name = get_string(subject, "name");
  if (kind == "User") out.push_back({SubjectKind::kUser, name, {}});
  if (kind == "Group") out.push_back({SubjectKind::kGroup, name, {}});
  if (kind == "ServiceAccount") out.push_back({SubjectKind::kServiceAccount, name, get_string(subject, "namespace")});
}

void put(CompiledPolicy& policy, const ObjectEntry& entry) {
  const Object binding = decode(entry, {});
  const Object& role = object_or_empty(binding, "roleRef");
  BindingSource source{entry.ns(), entry.name(), get_string(role, "kind"), get_string(role, "name"), {}};
  each(binding, "subjects", [&](const Object& subject, std::size_t) { add_subject(subject, source.subjects); });
  policy.put_binding(source);
}

template <class Put, class Remove>
ResourceEventHandler handler(Put put, Remove remove) {
  ResourceEventHandler out;
  out.on_add = [put](const ObjectRef& object, bool) { put(*object); };
  out.on_update = [put](const ObjectRef&, const ObjectRef& now) { put(*now); };
  out.on_delete = [remove](const ObjectRef& last, bool) { remove(*last); };
  return out;
}

ResourceRule resource_rule(const PolicyRule& rule) { return {rule.verbs, rule.api_groups, rule.resources, rule.resource_names}; }

// Like upstream's utilerrors.NewAggregate().
Status together(const MissingRoles& missing) { return missing.empty() ? Status() : Status(Reason::kInternalError, missing_text(missing)); }

}  // namespace

Task<RuleList> RbacAuthorizer::rules_for(UserInfo user, std::string ns) {
  const UserRules found = policy_.rules_for(user, ns);
  RuleList out;
  for (const PolicyRule& rule : found.rules) {
    if (!rule.resources.empty()) out.resource_rules.push_back(resource_rule(rule));
    if (!rule.urls.empty()) out.non_resource_rules.push_back({rule.verbs, rule.urls});
  }
  out.error = together(found.missing);
  co_return out;
}

void RbacAuthorizer::start(Host& host) {
  if (informers_ != nullptr) return;
  informers_ = std::make_unique<SharedInformerFactory>(host);
  for (const std::string_view resource : {kClusterRoles, kRoles}) {
    informers_->for_resource(resource_of(resource))
        ->add_event_handler(handler([this](const ObjectEntry& role) { policy_.put_role(role.ns(), role.name(), rules_of_entry(role)); },
                                    [this](const ObjectEntry& role) { policy_.remove_role(role.ns(), role.name()); }));
  }
  for (const std::string_view resource : {kClusterRoleBindings, kRoleBindings}) {
    informers_->for_resource(resource_of(resource))
        ->add_event_handler(handler([this](const ObjectEntry& binding) { put(policy_, binding); },
                                    [this](const ObjectEntry& binding) { policy_.remove_binding(binding.ns(), binding.name()); }));
  }
  informers_->start();
}

Task<bool> RbacAuthorizer::wait_synced() {
  const bool synced = co_await informers_->wait_for_cache_sync();
  if (synced) policy_.open();
  co_return synced;
}

}  // namespace backplane::rbac
