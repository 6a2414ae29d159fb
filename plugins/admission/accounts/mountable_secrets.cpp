#include "accounts/mountable_secrets.hpp"

#include <algorithm>
#include <array>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"

namespace backplane::admission::accounts {
namespace {

constexpr std::string_view kEnforceAnnotation = "kubernetes.io/enforce-mountable-secrets";
// The texts that Go's strconv.ParseBool reads as true.
constexpr std::array<std::string_view, 6> kTrue = {"1", "t", "T", "TRUE", "true", "True"};

using Refused = std::optional<std::string>;

// Checks the references of one pod against one account, and stores the first problem.
class ReferenceCheck {
 public:
  explicit ReferenceCheck(const Object& account) : account_(account) {}

  void volumes(const Object& spec) {
    each(spec, "volumes", [&](const Object& volume, std::size_t) {
      const Object* secret = get_object(volume, "secret");
      if (secret != nullptr) check("volume with", get_string(*secret, "secretName"));
    });
  }
  // `what`: "init container".
  void containers(const Object& spec, std::string_view list, const std::string& what) {
    each(spec, list, [&](const Object& container, std::size_t) {
      const std::string referrer = what + " " + std::string(get_string(container, "name")) + " with ";
      each(container, "env", [&](const Object& env, std::size_t) {
        const Object* ref = get_object(object_or_empty(env, "valueFrom"), "secretKeyRef");
        if (ref != nullptr) check(referrer + "envVar " + std::string(get_string(env, "name")) + " referencing", get_string(*ref, "name"));
      });
      each(container, "envFrom", [&](const Object& from, std::size_t) {
        const Object* ref = get_object(from, "secretRef");
        if (ref != nullptr) check(referrer + "envFrom referencing", get_string(*ref, "name"));
      });
    });
  }
  void pull_secrets(const Object& spec) {
    each(spec, "imagePullSecrets", [&](const Object& secret, std::size_t i) {
      const std::string_view name = get_string(secret, "name");
      if (why_ || find_item(account_, "imagePullSecrets", "name", name) != nullptr) return;
      why_ = "imagePullSecrets[" + std::to_string(i) + "].name=\"" + std::string(name) + "\" is not allowed because service account " +
             std::string(meta_name(account_)) + " does not reference that imagePullSecret";
    });
  }
  Refused why() && { return std::move(why_); }

 private:
  void check(const std::string& referrer, std::string_view secret) {
    if (why_ || find_item(account_, "secrets", "name", secret) != nullptr) return;
    why_ = referrer + " secret.secretName=\"" + std::string(secret) + "\" is not allowed because service account " +
           std::string(meta_name(account_)) + " does not reference that secret";
  }

  const Object& account_;
  Refused why_;
};

}  // namespace

bool enforces_mountable_secrets(const Object& account) {
  const std::string_view value = get_string(object_or_empty(object_or_empty(account, "metadata"), "annotations"), kEnforceAnnotation);
  return std::find(kTrue.begin(), kTrue.end(), value) != kTrue.end();
}

Refused forbidden_reference(const Object& account, const Object& pod_spec) {
  ReferenceCheck check(account);
  check.volumes(pod_spec);
  check.containers(pod_spec, "initContainers", "init container");
  check.containers(pod_spec, "containers", "container");
  check.pull_secrets(pod_spec);
  return std::move(check).why();
}

Refused forbidden_ephemeral_reference(const Object& account, const Object& pod_spec) {
  ReferenceCheck check(account);
  check.containers(pod_spec, "ephemeralContainers", "ephemeral container");
  return std::move(check).why();
}

}  // namespace backplane::admission::accounts
