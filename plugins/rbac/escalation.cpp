#include "escalation.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/kit/forwarding_storage.hpp"
#include "backplane/types/deep_equal.hpp"
#include "bootstrap.hpp"

namespace backplane::rbac {
namespace {

constexpr std::string_view kMasters = "system:masters";

// Returns true if a change concerns only the members that the garbage collector changes (IsOnlyMutatingGCFields).
bool is_of_garbage_collector(const Object& object, const Object* existing) {
  if (existing == nullptr) return false;
  Value copy(object);
  Object& metadata = ensure_object(copy.get_object(), "metadata");
  for (const std::string_view member : {"ownerReferences", "finalizers", "selfLink", "managedFields"}) {
    take_member(metadata, object_or_empty(*existing, "metadata"), member);
  }
  const Value old(*existing);
  return alike(&copy, &old);
}

// Go's %q of a slice of strings.
std::string quoted_groups(const UserInfo& user) {
  std::string out = "[";
  for (const std::string& group : user.groups) out.append(out.size() > 1 ? " " : "").append(backplane::quoted(group));
  return out + "]";
}

PolicyRules everything() { return {{{"*"}, {"*"}, {"*"}, {}, {}}, {{"*"}, {}, {}, {}, {"*"}}}; }

bool has_aggregation_rule(const Object& role) { return count_of(object_or_empty(role, "aggregationRule"), "clusterRoleSelectors") > 0; }

// Checks the writes of one kind.
class CheckedStorage : public kit::ForwardingStorage {
 public:
  CheckedStorage(std::shared_ptr<StandardStorage> store, EscalationChecks checks)
      : ForwardingStorage(std::move(store)), checks_(std::move(checks)) {}

  Task<Result<ObjectRef>> create(RequestContext& context, Object& object, WriteOptions options) override {
    Status allowed = co_await check_unless_privileged(context, object);
    if (!allowed.ok()) co_return allowed;
    co_return co_await store().create(context, object, std::move(options));
  }
  Task<Result<UpdateResult>> update(RequestContext& context, std::string name, UpdatedObjectInfo& info, WriteOptions options,
                                    bool force_allow_create) override {
    const bool privileged = co_await is_privileged(context);
    if (privileged) co_return co_await store().update(context, std::move(name), info, std::move(options), force_allow_create);
    CheckedInfo checked(info, *this);
    co_return co_await store().update(context, std::move(name), checked, std::move(options), force_allow_create);
  }

 protected:
  // Returns true if the user needs no check, whatever the object is.
  virtual Task<bool> is_privileged(RequestContext& context) const { co_return context.user->in_group(kMasters); }
  // `existing`: null for a new object.
  virtual Task<Status> check(RequestContext& context, const Object& object, const Object* existing) const = 0;

  const EscalationChecks& checks() const noexcept { return checks_; }
  // Returns true if the user may perform `verb` on the object `name` of this API group.
  Task<bool> is_allowed(RequestContext& context, std::string_view verb, std::string resource, std::string name) const {
    AuthorizationAttributes wanted;
    wanted.user = context.user;
    wanted.verb = verb;
    wanted.resource_request = true;
    wanted.api_group = kGroup;
    wanted.api_version = "*";
    wanted.resource = std::move(resource);
    wanted.name = std::move(name);
    wanted.ns = context.info.ns;
    const AuthorizerResult result = co_await checks_.authorizer->authorize(wanted);
    co_return result.decision == Decision::kAllow;
  }
  // Succeeds if the user has all of the rules (ConfirmNoEscalation). Errors: kForbidden with the rules that are missing.
  Status confirm(const RequestContext& context, const Object& object, const PolicyRules& rules) const {
    const UserRules own = checks_.rbac->policy_rules_for(*context.user, context.info.ns);
    const PolicyRules missing = missing_rules(own.rules, rules);
    if (missing.empty()) return {};
    std::string why = "user " + backplane::quoted(context.user->name) + " (groups=" + quoted_groups(*context.user) +
                      ") is attempting to grant RBAC permissions not currently held:\n" + joined(described(missing), "\n");
    if (!own.missing.empty()) why += "; resolution errors: " + resolution_errors(own);
    return refused(object, why);
  }
  Status refused(const Object& object, std::string_view why) const { return forbidden(kGroup, context_resource(), meta_name(object), why); }
  virtual std::string_view context_resource() const noexcept = 0;
  // kube-apiserver's stores take the resource of such an error from the request, not from the role.
  Status missing_role(std::string_view name) const { return not_found(kGroup, context_resource(), name); }

 private:
  class CheckedInfo final : public WrappedObjectInfo {
   public:
    CheckedInfo(UpdatedObjectInfo& wrapped, const CheckedStorage& storage) noexcept : WrappedObjectInfo(wrapped), storage_(storage) {}

   protected:
    Task<Status> change(RequestContext& context, Object& object, const Object* existing) override {
      if (is_of_garbage_collector(object, existing)) co_return Status();
      co_return co_await storage_.check(context, object, existing);
    }

   private:
    const CheckedStorage& storage_;
  };

  Task<Status> check_unless_privileged(RequestContext& context, const Object& object) const {
    const bool privileged = co_await is_privileged(context);
    if (privileged) co_return Status();
    co_return co_await check(context, object, nullptr);
  }
  std::string resolution_errors(const UserRules& own) const {
    std::vector<std::string> texts;
    for (const auto& [kind, name] : own.missing) {
      std::string text = missing_role(name).message();
      if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(std::move(text));
    }
    return texts.size() == 1 ? "[" + texts.front() + "]" : "[[" + joined(texts, ", ") + "]]";
  }

  const EscalationChecks checks_;
};

class CheckedRoles final : public CheckedStorage {
 public:
  using CheckedStorage::CheckedStorage;

 protected:
  std::string_view context_resource() const noexcept override { return namespaced() ? kRoles : kClusterRoles; }
  Task<bool> is_privileged(RequestContext& context) const override {
    if (context.user->in_group(kMasters)) co_return true;
    auto asking = is_allowed(context, "escalate", std::string(context_resource()), context.info.name);
    co_return co_await std::move(asking);
  }
  Task<Status> check(RequestContext& context, const Object& role, const Object* existing) const override {
    Status status = confirm(context, role, rules_of(role));
    if (!status.ok()) co_return status;
    // An aggregation rule can add any rule to the role. The removal of an aggregation rule can retain rules that the aggregation would have
    // removed.
    if (!has_aggregation_rule(role) && (existing == nullptr || !has_aggregation_rule(*existing))) co_return Status();
    status = confirm(context, role, everything());
    if (status.ok()) co_return Status();
    co_return refused(role, "must have cluster-admin privileges to use the aggregationRule");
  }
};

class CheckedBindings final : public CheckedStorage {
 public:
  using CheckedStorage::CheckedStorage;

 protected:
  std::string_view context_resource() const noexcept override { return namespaced() ? kRoleBindings : kClusterRoleBindings; }
  Task<Status> check(RequestContext& context, const Object& binding, const Object*) const override {
    const Object& reference = object_or_empty(binding, "roleRef");
    const bool cluster = get_string(reference, "kind") == "ClusterRole";
    if (!cluster && get_string(reference, "kind") != "Role") {
      co_return Status(500, Reason::kNone, "unsupported role reference kind: " + backplane::quoted(get_string(reference, "kind")));
    }
    const std::string name(get_string(reference, "name"));
    auto asking = is_allowed(context, "bind", std::string(cluster ? kClusterRoles : kRoles), name);
    const bool allowed = co_await std::move(asking);
    if (allowed) co_return Status();
    auto reading = (cluster ? checks().cluster_roles : checks().roles)->get(context, name, {});
    Result<ObjectRef> role = co_await std::move(reading);
    if (!role.ok()) co_return role.status().reason() == Reason::kNotFound ? missing_role(name) : std::move(role).status();
    co_return confirm(context, binding, rules_of(decode(**role, {})));
  }
};

}  // namespace

std::shared_ptr<StandardStorage> make_checked_roles(std::shared_ptr<StandardStorage> store, EscalationChecks checks) {
  return std::make_shared<CheckedRoles>(std::move(store), std::move(checks));
}
std::shared_ptr<StandardStorage> make_checked_bindings(std::shared_ptr<StandardStorage> store, EscalationChecks checks) {
  return std::make_shared<CheckedBindings>(std::move(store), std::move(checks));
}

}  // namespace backplane::rbac
