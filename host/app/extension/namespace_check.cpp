#include "app/extension/namespace_check.hpp"

#include "backplane/core/json_access.hpp"

namespace backplane {
namespace {

const GroupVersionResource kNamespaces{"", "v1", "namespaces"};

Status is_terminating(const AdmissionAttributes& attributes) {
  Status status =
      admission_forbidden(attributes, "unable to create new content in namespace " + attributes.ns + " because it is being terminated");
  StatusDetails details = *status.details();
  details.causes.push_back({"NamespaceTerminating", "namespace " + attributes.ns + " is being terminated", "metadata.namespace"});
  status.with_details(std::move(details));
  return status;
}

// Checks the namespace of a create. Objects of a terminating namespace may be updated, so that their controllers can remove finalizers.
Status check_phase(const Object& found, const AdmissionAttributes& attributes) {
  return get_string_path(found, "status.phase") == "Terminating" ? is_terminating(attributes) : Status();
}

class NamespaceCheck final : public AdmissionPlugin {
 public:
  NamespaceCheck(std::shared_ptr<SharedInformer> namespaces, std::shared_ptr<ApiClient> outer)
      : namespaces_(std::move(namespaces)), outer_(std::move(outer)) {}
  std::string_view name() const noexcept override { return "NamespaceLifecycle"; }
  bool handles(AdmissionOperation operation) const noexcept override {
    return operation == AdmissionOperation::kCreate || operation == AdmissionOperation::kUpdate;
  }
  bool validates() const noexcept override { return false; }
  bool ready() const noexcept override { return namespaces_->has_synced(); }

  std::optional<Status> admit_now(AdmissionAttributes& attributes) const override {
    if (attributes.ns.empty()) return Status();
    const ObjectRef known = namespaces_->indexer().get(attributes.ns);
    if (known == nullptr) return std::nullopt;
    return is_create(attributes) ? check_phase(decode(*known, {}), attributes) : Status();
  }
  Task<Status> admit(AdmissionAttributes& attributes) const override {
    auto reading = outer_->get(kNamespaces, "", attributes.ns);
    auto found = co_await std::move(reading);
    if (found.ok()) co_return is_create(attributes) ? check_phase(*found, attributes) : Status();
    if (found.status().reason() == Reason::kNotFound) co_return std::move(found).status();
    // The status of another error is about the runner's request, not about the client's.
    co_return internal_error(found.status().message());
  }

 private:
  static bool is_create(const AdmissionAttributes& attributes) noexcept { return attributes.operation == AdmissionOperation::kCreate; }

  const std::shared_ptr<SharedInformer> namespaces_;
  const std::shared_ptr<ApiClient> outer_;
};

}  // namespace

std::shared_ptr<AdmissionPlugin> make_namespace_check(std::shared_ptr<SharedInformer> namespaces, std::shared_ptr<ApiClient> outer) {
  return std::make_shared<NamespaceCheck>(std::move(namespaces), std::move(outer));
}

}  // namespace backplane
