#include "objects/namespace_auto_provision.hpp"

#include "backplane/net/client.hpp"
#include "objects/namespaces.hpp"
#include "objects/request_match.hpp"

namespace backplane::admission::objects {
namespace {

class NamespaceAutoProvision final : public AdmissionPlugin {
 public:
  explicit NamespaceAutoProvision(Services& services) : host_(services.host()), namespaces_(services) {}

  std::string_view name() const noexcept override { return "NamespaceAutoProvision"; }
  bool handles(AdmissionOperation operation) const noexcept override { return operation == AdmissionOperation::kCreate; }
  bool validates() const noexcept override { return false; }

  std::optional<Status> admit_now(AdmissionAttributes& attributes) const override {
    if (attributes.dry_run || attributes.ns.empty() || is_of_kind(attributes, "", "Namespace")) return Status();
    if (namespaces_.cached(attributes.ns) != nullptr) return Status();
    return std::nullopt;
  }

  Task<Status> admit(AdmissionAttributes& attributes) const override {
    auto waiting = wait_synced(namespaces_.lister(), attributes);
    Status ready = co_await std::move(waiting);
    if (!ready.ok()) co_return ready;
    if (namespaces_.cached(attributes.ns) != nullptr) co_return Status();
    auto creating = create(attributes.ns);
    Status created = co_await std::move(creating);
    if (created.ok() || created.reason() == Reason::kAlreadyExists || created.reason() == Reason::kForbidden) {
      co_return created.reason() == Reason::kAlreadyExists ? Status() : created;
    }
    co_return admission_forbidden(attributes, created.message());
  }

 private:
  Task<Status> create(std::string name) const {
    Object tree;
    tree["apiVersion"] = "v1";
    tree["kind"] = "Namespace";
    tree["metadata"].emplace_object()["name"] = name;
    ApiClient client(host_.client());
    auto creating = client.create({"", "v1", "namespaces"}, {}, std::move(tree));
    auto created = co_await std::move(creating);
    co_return created.ok() ? Status() : std::move(created).status();
  }

  Host& host_;
  const Namespaces namespaces_;
};

}  // namespace

Result<std::shared_ptr<AdmissionPlugin>> make_namespace_auto_provision(Services& services, const AdmissionPluginConfig&) {
  return std::shared_ptr<AdmissionPlugin>(std::make_shared<NamespaceAutoProvision>(services));
}

}  // namespace backplane::admission::objects
