#include "accounts/last_used_label.hpp"

namespace backplane::authentication {

Task<Status> LastUsedLabel::write(std::string ns, std::string name, std::string uid, std::string date) {
  Object labels{{"kubernetes.io/legacy-token-last-used", date}};
  Object metadata{{"name", name}, {"namespace", ns}, {"uid", uid}, {"labels", std::move(labels)}};
  Value patch(Object{{"kind", "Secret"}, {"apiVersion", "v1"}, {"metadata", std::move(metadata)}});
  const GroupVersionResource secrets{"", "v1", "secrets"};
  auto patched = co_await client_.patch(secrets, ns, name, PatchType::kMerge, std::move(patch));
  co_return patched.ok() ? Status() : std::move(patched).status();
}

}  // namespace backplane::authentication
