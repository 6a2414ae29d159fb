#include "registration_kinds.hpp"

#include <map>
#include <string>

#include "kinds.hpp"

namespace backplane::admissionregistration {

RegisteredKind registered_kind(std::string_view kind) {
  static const auto kinds = [] {
    std::map<std::string, RegisteredKind, std::less<>> out;
    const auto group = admissionregistration_group();
    const auto& schemas = *admissionregistration_schemas().front();
    for (const char* name : {"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "ValidatingAdmissionPolicy",
                             "ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"}) {
      out[name] = {schemas.find(GroupVersionKind{"admissionregistration.k8s.io", "v1", name}), group->kind(name).strategy()};
    }
    return out;
  }();
  const auto found = kinds.find(kind);
  return found == kinds.end() ? RegisteredKind() : found->second;
}

}  // namespace backplane::admissionregistration
