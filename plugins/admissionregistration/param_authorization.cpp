#include "param_authorization.hpp"

#include <algorithm>
#include <map>

#include "backplane/core/json_access.hpp"
#include "backplane/kit/resource_resolver.hpp"
#include "backplane/points/authorization.hpp"
#include "backplane/rest/roles.hpp"

namespace backplane::admissionregistration {
namespace {

constexpr std::string_view kGroup = "admissionregistration.k8s.io";

// A user as Go prints it with %v.
std::string go_user(const UserInfo& user) {
  const auto listed = [](const std::vector<std::string>& texts) {
    std::string out;
    for (const std::string& text : texts) out.append(out.empty() ? "" : " ").append(text);
    return "[" + out + "]";
  };
  std::map<std::string_view, const std::vector<std::string>*> extra;
  for (const auto& [key, values] : user.extra) extra.emplace(key, &values);
  std::string shown;
  for (const auto& [key, values] : extra) shown.append(shown.empty() ? "" : " ").append(key).append(":").append(listed(*values));
  return "&{" + user.name + " " + user.uid + " " + listed(user.groups) + " map[" + shown + "]}";
}

std::string go_param_kind(const Object& kind) {
  return "&ParamKind{APIVersion:" + std::string(get_string(kind, "apiVersion")) + ",Kind:" + std::string(get_string(kind, "kind")) + ",}";
}

// The read access that the writer needs. A group, version or resource that is unknown is "*" (all).
struct ParamAccess {
  AuthorizationAttributes attributes;
  bool has_policy = true, has_version = true, has_resource = true;
};

class ParamAuthorization final : public AdmissionPlugin {
 public:
  explicit ParamAuthorization(Host& host) : host_(host) {}

  std::string_view name() const noexcept override { return "AdmissionPolicyParamAuthorization"; }
  bool handles(AdmissionOperation operation) const noexcept override {
    return operation == AdmissionOperation::kCreate || operation == AdmissionOperation::kUpdate;
  }
  bool mutates() const noexcept override { return false; }

  std::optional<Status> validate_now(const AdmissionAttributes& attributes) const override {
    if (concerns(attributes)) return std::nullopt;
    return Status();
  }

  Task<Status> validate(const AdmissionAttributes& attributes) const override {
    const bool binding = attributes.kind.kind.ends_with("Binding");
    auto checking = check(binding, attributes);
    const std::string problem = co_await std::move(checking);
    if (problem.empty()) co_return Status();
    FieldErrors errors;
    errors.forbidden(binding ? "spec.paramRef" : "spec.paramKind", problem);
    co_return errors.to_status(attributes.kind.group, attributes.kind.kind, meta_name(*attributes.object));
  }

 private:
  Task<std::string> check(bool binding, const AdmissionAttributes& attributes) const {
    if (binding) return check_binding(attributes);
    return check_policy(attributes);
  }

  static const Object& spec_of(const Object& object) { return object_or_empty(object, "spec"); }

  static bool concerns(const AdmissionAttributes& attributes) {
    if (attributes.resource.group != kGroup || attributes.object == nullptr || !attributes.subresource.empty()) return false;
    if (attributes.kind.kind.find("AdmissionPolicy") == std::string::npos || attributes.user->in_group("system:masters")) return false;
    const Object& spec = spec_of(*attributes.object);
    // Upstream compares the pointers of the old and the new paramRef, which always differ. Therefore every update of a binding is checked.
    if (attributes.kind.kind.ends_with("Binding")) return get_object(spec, "paramRef") != nullptr;
    if (get_object(spec, "paramKind") == nullptr) return false;
    return attributes.old_object == nullptr || !same_member(spec, spec_of(*attributes.old_object), "paramKind");
  }

  // Returns the access to the resource of `kind`. A part that cannot be parsed or resolved is "*".
  Task<ParamAccess> access_of(const AdmissionAttributes& attributes, Object kind) const {
    ParamAccess out;
    out.attributes.user = attributes.user;
    out.attributes.resource_request = true;
    out.attributes.api_group = out.attributes.api_version = out.attributes.resource = "*";
    const std::string api_version(get_string(kind, "apiVersion"));
    const auto version = kit::parse_group_version(api_version);
    out.has_version = version.ok();
    if (!version.ok()) co_return out;
    out.attributes.api_group = version->group;
    out.attributes.api_version = version->version;
    kit::ResourceResolver resolver(host_.client());
    auto resolving = resolver.resolve(api_version, std::string(get_string(kind, "kind")));
    const auto resolved = co_await std::move(resolving);
    out.has_resource = resolved.ok();
    if (resolved.ok()) out.attributes.resource = resolved->resource.resource;
    co_return out;
  }

  Task<std::string> check_policy(const AdmissionAttributes& attributes) const {
    const Object& kind = object_or_empty(spec_of(*attributes.object), "paramKind");
    auto reading = access_of(attributes, kind);
    ParamAccess access = co_await std::move(reading);
    access.attributes.verb = "get";
    access.attributes.name = access.attributes.ns = "*";
    auto asking = host_.authorizer().authorize(access.attributes);
    const AuthorizerResult result = co_await std::move(asking);
    if (!result.error.ok()) co_return result.error.message();
    if (result.decision == Decision::kAllow) co_return std::string();
    co_return "user " + go_user(*attributes.user) +
        " must have \"get\" permission on all objects of the referenced paramKind (kind=" + std::string(get_string(kind, "kind")) +
        ", apiVersion=" + std::string(get_string(kind, "apiVersion")) + ")";
  }

  Task<std::string> check_binding(const AdmissionAttributes& attributes) const {
    const Object& spec = spec_of(*attributes.object);
    const Object& ref = object_or_empty(spec, "paramRef");
    const std::string policy_name(get_string(spec, "policyName"));
    auto finding = find_policy(attributes, policy_name);
    const auto policy = co_await std::move(finding);
    const Object* kind = policy.ok() ? get_object(spec_of(*policy), "paramKind") : nullptr;
    ParamAccess access;
    access.attributes.user = attributes.user;
    access.attributes.resource_request = true;
    access.attributes.api_group = access.attributes.api_version = access.attributes.resource = "*";
    if (kind != nullptr) {
      auto reading = access_of(attributes, *kind);
      access = co_await std::move(reading);
    }
    access.has_policy = policy.ok();
    access.attributes.name = get_string(ref, "name");
    access.attributes.ns = get_string(ref, "namespace");
    access.attributes.verb = access.attributes.name.empty() ? "list" : "get";
    auto asking = host_.authorizer().authorize(access.attributes);
    const AuthorizerResult result = co_await std::move(asking);
    const bool mutating = attributes.kind.kind.starts_with("Mutating");
    if (!result.error.ok()) co_return (mutating ? "" : "failed to authorize request: ") + result.error.message();
    if (result.decision == Decision::kAllow) co_return std::string();
    co_return binding_refusal(access, policy_name, kind, mutating);
  }

  static std::string binding_refusal(const ParamAccess& access, const std::string& policy, const Object* kind, bool mutating) {
    const std::string user = go_user(*access.attributes.user), &verb = access.attributes.verb;
    const std::string end = " to determine minimum required permissions and user " + user + " does not have \"" + verb +
                            "\" permission for all groups, versions and resources";
    if (!access.has_policy) return "unable to get policy " + policy + end;
    if (!access.has_version) return "unable to parse paramKind " + go_param_kind(*kind) + end;
    if (!access.has_resource) return "unable to resolve paramKind " + go_param_kind(*kind) + end;
    // Upstream's strategy of mutating bindings prints the two errors in the other order.
    return "user " + (mutating ? verb : user) + " does not have \"" + (mutating ? user : verb) +
           "\" permission on the object referenced by paramRef";
  }

  Task<Result<Object>> find_policy(const AdmissionAttributes& attributes, std::string name) const {
    const bool mutating = attributes.kind.kind.starts_with("Mutating");
    const auto storage =
        host_.find_storage({std::string(kGroup), "v1", mutating ? "mutatingadmissionpolicies" : "validatingadmissionpolicies"});
    auto* getter = role_of<Getter>(storage);
    if (getter == nullptr) co_return not_found(kGroup, "policies", name);
    RequestContext context;
    auto reading = getter->get(context, name, {});
    auto found = co_await std::move(reading);
    if (!found.ok()) co_return std::move(found.status());
    co_return decode(**found, {});
  }

  Host& host_;
};

}  // namespace

std::shared_ptr<AdmissionPlugin> make_param_authorization(Host& host) { return std::make_shared<ParamAuthorization>(host); }

}  // namespace backplane::admissionregistration
