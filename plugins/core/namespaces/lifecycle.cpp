#include "namespaces/lifecycle.hpp"

#include <algorithm>
#include <array>

namespace backplane::core {
namespace {

constexpr std::array<std::string_view, 3> kImmortal = {"default", "kube-system", "kube-public"};

bool is_immortal(std::string_view name) { return std::find(kImmortal.begin(), kImmortal.end(), name) != kImmortal.end(); }

// Access reviews are not objects in a namespace.
bool is_access_review(const GroupVersionResource& resource) {
  return resource.group == "authorization.k8s.io" && resource.resource == "localsubjectaccessreviews";
}

Status is_terminating(const AdmissionAttributes& attributes) {
  Status status = forbidden(attributes.resource.group, attributes.resource.resource, attributes.name,
                            "unable to create new content in namespace " + attributes.ns + " because it is being terminated");
  StatusDetails details = *status.details();
  details.causes.push_back({"NamespaceTerminating", "namespace " + attributes.ns + " is being terminated", "metadata.namespace"});
  status.with_details(std::move(details));
  return status;
}

class NamespaceLifecycle final : public AdmissionPlugin {
 public:
  explicit NamespaceLifecycle(std::shared_ptr<StandardStorage> namespaces) : namespaces_(std::move(namespaces)) {}

  std::string_view name() const noexcept override { return "NamespaceLifecycle"; }
  bool handles(AdmissionOperation operation) const noexcept override { return operation != AdmissionOperation::kConnect; }
  bool validates() const noexcept override { return false; }

  Task<Status> admit(AdmissionAttributes& attributes) const override {
    const bool of_namespaces = attributes.resource.group.empty() && attributes.resource.resource == "namespaces";
    if (attributes.operation == AdmissionOperation::kDelete && of_namespaces && is_immortal(attributes.name)) {
      co_return forbidden("", "namespaces", attributes.name, "this namespace may not be deleted");
    }
    // Objects in a namespace that is being deleted, or is missing, can be deleted.
    const bool is_delete = attributes.operation == AdmissionOperation::kDelete;
    if (of_namespaces || attributes.ns.empty() || is_delete || is_access_review(attributes.resource)) co_return Status();
    co_return co_await check(attributes);
  }

 private:
  Task<Status> check(const AdmissionAttributes& attributes) const {
    // The plugin reads on its own behalf, so it uses a separate context, which does not contain the namespace of the request's path.
    RequestContext own;
    auto found = co_await read(own, attributes.ns, "0");
    // The cache may not have the namespace yet.
    if (!found.ok() || !*found) found = co_await read(own, attributes.ns, "");
    if (!found.ok()) co_return std::move(found).status();
    if (attributes.operation == AdmissionOperation::kUpdate) co_return Status();
    const auto phase = namespaces_->field(**found, "status.phase");
    co_return phase == "Terminating" ? is_terminating(attributes) : Status();
  }

  Task<Result<ObjectRef>> read(RequestContext& context, std::string name, std::string resource_version) const {
    GetOptions options;
    options.resource_version = std::move(resource_version);
    return namespaces_->get(context, std::move(name), std::move(options));
  }

  std::shared_ptr<StandardStorage> namespaces_;
};

}  // namespace

std::shared_ptr<AdmissionPlugin> make_namespace_lifecycle(std::shared_ptr<StandardStorage> namespaces) {
  return std::make_shared<NamespaceLifecycle>(std::move(namespaces));
}

}  // namespace backplane::core
