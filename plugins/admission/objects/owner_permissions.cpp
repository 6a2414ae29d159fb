#include "objects/owner_permissions.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/points/authorization.hpp"
#include "objects/owner_changes.hpp"
#include "objects/request_match.hpp"

namespace backplane::admission::objects {
namespace {

AuthorizationAttributes finalize_anything(const UserRef& user) {
  AuthorizationAttributes out;
  out.user = user;
  out.verb = "update";
  out.resource_request = true;
  out.api_group = out.api_version = out.resource = out.name = "*";
  out.subresource = "finalizers";
  return out;
}

AuthorizationAttributes delete_of(const AdmissionAttributes& attributes) {
  AuthorizationAttributes out;
  out.user = attributes.user;
  out.verb = "delete";
  out.resource_request = true;
  out.ns = attributes.ns;
  out.api_group = attributes.resource.group;
  out.api_version = attributes.resource.version;
  out.resource = attributes.resource.resource;
  out.subresource = attributes.subresource;
  out.name = attributes.name;
  return out;
}

AuthorizationAttributes finalize_owner(const AdmissionAttributes& attributes, const OwnerResource& owner, std::string name) {
  AuthorizationAttributes out;
  out.user = attributes.user;
  out.verb = "update";
  out.resource_request = true;
  out.api_group = owner.resource.group;
  out.api_version = owner.resource.version;
  out.resource = owner.resource.resource;
  out.subresource = "finalizers";
  out.name = std::move(name);
  // A namespaced owner is in the namespace of its dependent.
  if (owner.namespaced) out.ns = attributes.ns;
  return out;
}

// The text "reason, error" as Go prints both.
std::string reason_of(const AuthorizerResult& result) {
  return result.reason + ", " + (result.error.ok() ? std::string("<nil>") : result.error.message());
}

class OwnerPermissions final : public AdmissionPlugin {
 public:
  OwnerPermissions(std::function<Authorizer&()> authorizer, OwnerResourceFinder finder)
      : authorizer_(std::move(authorizer)), finder_(std::move(finder)) {}

  std::string_view name() const noexcept override { return "OwnerReferencesPermissionEnforcement"; }
  bool handles(AdmissionOperation operation) const noexcept override {
    return operation == AdmissionOperation::kCreate || operation == AdmissionOperation::kUpdate;
  }
  bool mutates() const noexcept override { return false; }

  std::optional<Status> validate_now(const AdmissionAttributes& attributes) const override {
    // Old kubelets send other owners than the pod has; an update of the status does not change owners.
    if (is_of_resource(attributes, "", "pods") && attributes.subresource == "status") return Status();
    if (attributes.object == nullptr || !changes_owner_references(*attributes.object, attributes.old_object)) return Status();
    const bool create = attributes.operation == AdmissionOperation::kCreate;
    if (create && new_blocking_owners(*attributes.object, attributes.old_object).empty()) return Status();
    return std::nullopt;
  }

  Task<Status> validate(const AdmissionAttributes& attributes) const override {
    // The creator of an object need not be allowed to delete it.
    if (attributes.operation != AdmissionOperation::kCreate) {
      auto asking = ask(delete_of(attributes));
      const AuthorizerResult may_delete = co_await std::move(asking);
      if (may_delete.decision != Decision::kAllow) {
        co_return admission_forbidden(attributes, "cannot set an ownerRef on a resource you can't delete: " + reason_of(may_delete));
      }
    }
    const std::vector<const Object*> owners = new_blocking_owners(*attributes.object, attributes.old_object);
    if (owners.empty()) co_return Status();
    auto asking = ask(finalize_anything(attributes.user));
    const AuthorizerResult may_finalize_all = co_await std::move(asking);
    if (may_finalize_all.decision == Decision::kAllow) co_return Status();
    for (const Object* owner : owners) {
      auto checking = check_owner(attributes, *owner);
      Status allowed = co_await std::move(checking);
      if (!allowed.ok()) co_return allowed;
    }
    co_return Status();
  }

 private:
  Task<AuthorizerResult> ask(AuthorizationAttributes question) const {
    Authorizer& authorizer = authorizer_();
    auto asking = authorizer.authorize(question);
    auto result = co_await std::move(asking);
    co_return result;
  }

  // The user must be allowed to finalize the owner in every resource that has the owner's kind.
  Task<Status> check_owner(const AdmissionAttributes& attributes, const Object& owner) const {
    const std::string api_version(get_string(owner, "apiVersion")), kind(get_string(owner, "kind"));
    auto finding = finder_(api_version, kind);
    auto resources = co_await std::move(finding);
    if (!resources.ok()) {
      co_return admission_forbidden(
          attributes, "cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion " + api_version +
                          " Kind " + kind + ": " + resources.status().message());
    }
    for (const OwnerResource& resource : *resources) {
      auto asking = ask(finalize_owner(attributes, resource, std::string(get_string(owner, "name"))));
      const AuthorizerResult may_finalize = co_await std::move(asking);
      if (may_finalize.decision == Decision::kAllow) continue;
      co_return admission_forbidden(
          attributes, "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: " +
                          reason_of(may_finalize));
    }
    co_return Status();
  }

  const std::function<Authorizer&()> authorizer_;  // called at the first request, because the authorizer exists only while the server runs
  const OwnerResourceFinder finder_;
};

}  // namespace

std::shared_ptr<AdmissionPlugin> make_owner_permissions(std::function<Authorizer&()> authorizer, OwnerResourceFinder finder) {
  return std::make_shared<OwnerPermissions>(std::move(authorizer), std::move(finder));
}

Result<std::shared_ptr<AdmissionPlugin>> make_owner_permissions(Services& services, const AdmissionPluginConfig&) {
  Host& host = services.host();
  return make_owner_permissions(
      [&host]() -> Authorizer& { return host.authorizer(); },
      [&host](std::string api_version, std::string kind) { return find_owner_resources(host, std::move(api_version), std::move(kind)); });
}

}  // namespace backplane::admission::objects
