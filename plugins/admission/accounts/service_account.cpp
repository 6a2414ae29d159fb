#include "accounts/service_account.hpp"

#include "accounts/account_reader.hpp"
#include "accounts/mirror_pods.hpp"
#include "accounts/mountable_secrets.hpp"
#include "accounts/token_volume.hpp"
#include "backplane/core/json_access.hpp"

namespace backplane::admission::accounts {
namespace {

constexpr std::string_view kAccountName = "serviceAccountName";

bool concerns_pods(const AdmissionAttributes& attributes) {
  const bool pods = attributes.resource.group.empty() && attributes.resource.resource == "pods";
  return pods && (attributes.subresource.empty() || attributes.subresource == "ephemeralcontainers") && attributes.object != nullptr;
}

bool is_create(const AdmissionAttributes& attributes) { return attributes.operation == AdmissionOperation::kCreate; }

const Object& spec_of(const AdmissionAttributes& attributes) { return object_or_empty(*attributes.object, "spec"); }
std::string account_of(const AdmissionAttributes& attributes) { return std::string(get_string(spec_of(attributes), kAccountName)); }

// v1 has an older name for the same field.
void set_account(Object& spec, std::string_view name) {
  spec[kAccountName] = name;
  spec["serviceAccount"] = name;
}

Status lookup_failed(const AdmissionAttributes& attributes, const Status& error) {
  return admission_forbidden(attributes,
                             "error looking up service account " + attributes.ns + "/" + account_of(attributes) + ": " + error.message());
}

// The pod's automountServiceAccountToken has priority over that of the account.
bool mounts_token(const Object& account, const Object& spec) {
  constexpr std::string_view kAutomount = "automountServiceAccountToken";
  return get_bool(spec, kAutomount).value_or(get_bool(account, kAutomount).value_or(true));
}

void add_pull_secrets(const Object& account, Object& spec) {
  if (count_of(spec, "imagePullSecrets") > 0 || count_of(account, "imagePullSecrets") == 0) return;
  Array& secrets = ensure_array(spec, "imagePullSecrets");
  each(account, "imagePullSecrets", [&](const Object& secret, std::size_t) {
    Object reference(secrets.storage());
    if (!get_string(secret, "name").empty()) reference["name"] = get_string(secret, "name");
    secrets.push_back(std::move(reference));
  });
}

Status validate_mirror(const AdmissionAttributes& attributes) {
  const auto why = forbidden_in_mirror_pod(spec_of(attributes));
  return why ? admission_forbidden(attributes, *why) : Status();
}

// Returns the decision if it does not depend on the account.
std::optional<Status> decide_without_account(const AdmissionAttributes& attributes) {
  if (!concerns_pods(attributes)) return Status();
  if (!is_create(attributes) && attributes.subresource != "ephemeralcontainers") return Status();
  if (is_create(attributes) && is_mirror_pod(*attributes.object)) return validate_mirror(attributes);
  if (!account_of(attributes).empty()) return std::nullopt;
  return admission_forbidden(attributes,
                             "no service account specified for pod " + attributes.ns + "/" + std::string(meta_name(*attributes.object)));
}

Status validate_with(const AdmissionAttributes& attributes, const Object& account) {
  if (!enforces_mountable_secrets(account)) return {};
  if (is_create(attributes)) {
    const auto why = forbidden_reference(account, spec_of(attributes));
    return why ? admission_forbidden(attributes, *why) : Status();
  }
  // Upstream returns this error unwrapped, which results in a 500.
  auto why = forbidden_ephemeral_reference(account, spec_of(attributes));
  return why ? Status(500, Reason::kNone, std::move(*why)) : Status();
}

Status admit_with(AdmissionAttributes& attributes, const Object& account) {
  Object& spec = ensure_object(*attributes.object, "spec");
  if (mounts_token(account, spec)) mount_token_volume(spec);
  add_pull_secrets(account, spec);
  return validate_with(attributes, account);
}

class ServiceAccount final : public AdmissionPlugin {
 public:
  explicit ServiceAccount(Services& services) : accounts_(services) {}

  std::string_view name() const noexcept override { return "ServiceAccount"; }
  bool handles(AdmissionOperation operation) const noexcept override {
    return operation == AdmissionOperation::kCreate || operation == AdmissionOperation::kUpdate;
  }

  std::optional<Status> admit_now(AdmissionAttributes& attributes) const override {
    if (!concerns_pods(attributes) || !is_create(attributes)) return Status();
    // A kubelet deletes a mirror pod that differs from its static pod.
    if (is_mirror_pod(*attributes.object)) return validate_mirror(attributes);
    Object& spec = ensure_object(*attributes.object, "spec");
    if (get_string(spec, kAccountName).empty()) set_account(spec, kDefaultAccount);
    const auto account = accounts_.cached(attributes.ns, account_of(attributes));
    if (!account) return std::nullopt;
    return admit_with(attributes, *account);
  }

  Task<Status> admit(AdmissionAttributes& attributes) const override {
    auto reading = accounts_.read(attributes.ns, account_of(attributes));
    const auto account = co_await std::move(reading);
    if (!account.ok()) co_return lookup_failed(attributes, account.status());
    co_return admit_with(attributes, *account);
  }

  std::optional<Status> validate_now(const AdmissionAttributes& attributes) const override {
    if (auto decided = decide_without_account(attributes)) return decided;
    const auto account = accounts_.cached(attributes.ns, account_of(attributes));
    if (!account) return std::nullopt;
    return validate_with(attributes, *account);
  }

  Task<Status> validate(const AdmissionAttributes& attributes) const override {
    auto reading = accounts_.read(attributes.ns, account_of(attributes));
    const auto account = co_await std::move(reading);
    if (!account.ok()) co_return lookup_failed(attributes, account.status());
    co_return validate_with(attributes, *account);
  }

 private:
  const AccountReader accounts_;
};

}  // namespace

Result<std::shared_ptr<AdmissionPlugin>> make_service_account(Services& services, const AdmissionPluginConfig&) {
  return std::shared_ptr<AdmissionPlugin>(std::make_shared<ServiceAccount>(services));
}

}  // namespace backplane::admission::accounts
