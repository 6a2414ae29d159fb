#include "duration_metrics.hpp"

#include <cstdlib>

#include "backplane/core/json_access.hpp"
#include "backplane/core/metrics.hpp"
#include "backplane/core/object.hpp"
#include "backplane/core/request.hpp"
#include "backplane/rest/object_defaults.hpp"
#include "backplane/rest/update_info.hpp"
#include "backplane/types/base64.hpp"
#include "pem.hpp"
#include "x509.hpp"

namespace backplane::certificates {
namespace {

constexpr std::string_view kCertificate = "status.certificate";

Metric& requested_total() {
  static Metric& metric = Metric::counter("apiserver_certificates_registry_csr_requested_duration_total",
                                          "[ALPHA] Total number of issued CSRs with a requested duration, sliced by signer (only "
                                          "kubernetes.io signer names are specifically identified)",
                                          {"signerName"});
  return metric;
}
Metric& honored_total() {
  static Metric& metric =
      Metric::counter("apiserver_certificates_registry_csr_honored_duration_total",
                      "[ALPHA] Total number of issued CSRs with a requested duration that was honored, sliced by signer "
                      "(only kubernetes.io signer names are specifically identified)",
                      {"signerName"});
  return metric;
}

// The lifetime of the first certificate, in seconds. nullopt: the text has no certificate, or one that cannot be parsed.
std::optional<std::int64_t> lifetime_of(std::string_view pem) {
  std::optional<std::int64_t> out;
  while (const auto block = next_pem_block(pem)) {
    if (block->type != "CERTIFICATE" || block->headers) continue;
    if (!check_certificates(block->bytes).ok()) return std::nullopt;
    if (out) continue;
    const auto certificate = read_first_certificate(block->bytes);
    if (certificate.ok()) out = not_after(*certificate) - not_before(*certificate);
  }
  return out;
}

// Signers backdate certificates, so a difference of five minutes plus a twentieth of the duration is tolerated.
bool is_honored(std::int64_t wanted, std::int64_t got) {
  constexpr std::int64_t kBackdating = 5 * 60;
  constexpr std::int64_t kShare = 20;
  return std::abs(wanted - got) * kShare < kBackdating * kShare + wanted;
}

// Records the state from which each attempt of the update begins.
class RecordingInfo final : public WrappedObjectInfo {
 public:
  using WrappedObjectInfo::WrappedObjectInfo;
  const std::optional<RequestedDuration>& requested() const noexcept { return requested_; }

 protected:
  Task<Status> change(RequestContext&, Object&, const Object* existing) override {
    requested_ = existing != nullptr ? RequestedDuration::of(*existing) : std::nullopt;
    co_return Status();
  }

 private:
  std::optional<RequestedDuration> requested_;
};

class CountedStatus final : public SubresourceStorage, public ObjectDefaulter {
 public:
  explicit CountedStatus(std::shared_ptr<SubresourceStorage> status) : status_(std::move(status)) {}

  bool admits_writes() const noexcept override { return true; }
  GroupVersionKind kind() const override { return status_->kind(); }
  const Schema* schema() const override { return status_->schema(); }
  bool namespaced() const override { return status_->namespaced(); }
  std::string deprecation_warning() const override { return status_->deprecation_warning(); }
  const TableConvertor* subresource_table() const noexcept override { return status_->subresource_table(); }
  void set_defaults(Value& object) const override {
    if (const auto* defaults = role_of<ObjectDefaulter>(status_.get())) defaults->set_defaults(object);
  }

  Task<Result<ObjectRef>> get(RequestContext& context, std::string name, GetOptions options) override {
    return status_->get(context, std::move(name), std::move(options));
  }
  Task<Result<UpdateResult>> update(RequestContext& context, std::string name, UpdatedObjectInfo& info, WriteOptions options,
                                    bool force_allow_create) override {
    const bool dry_run = options.dry_run;
    RecordingInfo noting(info);
    auto updating = status_->update(context, std::move(name), noting, std::move(options), force_allow_create);
    auto updated = co_await std::move(updating);
    if (updated.ok() && !dry_run && noting.requested()) {
      const Object object = decode(*updated->object, {});
      count_issued(*noting.requested(), from_base64(get_string_path(object, kCertificate)).value_or(""));
    }
    co_return updated;
  }

 private:
  const std::shared_ptr<SubresourceStorage> status_;
};

}  // namespace

std::optional<RequestedDuration> RequestedDuration::of(const Object& stored) {
  const Value* seconds = find_path(stored, "spec.expirationSeconds");
  if (seconds == nullptr || !seconds->is_int64() || !get_string_path(stored, kCertificate).empty()) return std::nullopt;
  return RequestedDuration{std::string(get_string_path(stored, "spec.signerName")), seconds->get_int64()};
}

void count_issued(const RequestedDuration& requested, std::string_view certificate) {
  if (certificate.empty()) return;
  const std::string_view signer = requested.signer.starts_with("kubernetes.io/") ? std::string_view(requested.signer) : "other";
  requested_total().add({signer});
  const auto lifetime = lifetime_of(certificate);
  if (lifetime && is_honored(requested.seconds, *lifetime)) honored_total().add({signer});
}

std::shared_ptr<SubresourceStorage> make_counted_status(std::shared_ptr<SubresourceStorage> status) {
  return std::make_shared<CountedStatus>(std::move(status));
}

}  // namespace backplane::certificates
