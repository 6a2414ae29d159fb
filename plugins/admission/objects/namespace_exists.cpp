#include "objects/namespace_exists.hpp"

#include "objects/namespaces.hpp"
#include "objects/request_match.hpp"

namespace backplane::admission::objects {
namespace {

class NamespaceExists final : public AdmissionPlugin {
 public:
  explicit NamespaceExists(Services& services) : namespaces_(services) {}

  std::string_view name() const noexcept override { return "NamespaceExists"; }
  bool handles(AdmissionOperation operation) const noexcept override { return operation != AdmissionOperation::kConnect; }
  bool mutates() const noexcept override { return false; }

  std::optional<Status> validate_now(const AdmissionAttributes& attributes) const override {
    if (attributes.ns.empty() || is_of_kind(attributes, "", "Namespace")) return Status();
    if (namespaces_.cached(attributes.ns) != nullptr) return Status();
    return std::nullopt;
  }

  Task<Status> validate(const AdmissionAttributes& attributes) const override {
    auto finding = namespaces_.find(attributes);
    auto found = co_await std::move(finding);
    if (found.ok()) co_return Status();
    const Reason reason = found.status().reason();
    if (reason == Reason::kNotFound || reason == Reason::kForbidden) co_return std::move(found).status();
    co_return internal_error(found.status().message());
  }

 private:
  const Namespaces namespaces_;
};

}  // namespace

Result<std::shared_ptr<AdmissionPlugin>> make_namespace_exists(Services& services, const AdmissionPluginConfig&) {
  return std::shared_ptr<AdmissionPlugin>(std::make_shared<NamespaceExists>(services));
}

}  // namespace backplane::admission::objects
