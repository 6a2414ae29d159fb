// ClusterTrustBundles.
#include <algorithm>
#include <map>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/kit/strategy.hpp"
#include "backplane/types/names.hpp"
#include "backplane/workload/signer_name.hpp"
#include "kinds.hpp"
#include "pem.hpp"
#include "x509.hpp"

namespace backplane::certificates {
namespace {

using namespace kit;

constexpr const char* kBundle = "spec.trustBundle";
constexpr std::size_t kMaxBundle = std::size_t{1} << 20;

// The reason why a block is no trust anchor; empty: it is one.
std::string anchor_problem(const PemBlock& block) {
  if (block.type != "CERTIFICATE") return "has bad block type: " + block.type;
  if (block.headers) return "has PEM block headers";
  const auto certificate = read_certificate(block.bytes);
  if (!certificate.ok()) return "does not parse as X.509";
  return is_authority(*certificate) ? "" : "does not have the CA bit set";
}

void check_bundle(std::string_view text, FieldErrors& errors) {
  if (text.size() > kMaxBundle) return errors.too_long(kBundle, "", static_cast<long long>(kMaxBundle));
  const auto refuse = [&](const std::string& why) { errors.invalid(kBundle, "<value omitted>", why); };
  const std::size_t before = errors.size();
  std::map<std::string, std::string> anchors;  // the indexes of the blocks, by their bytes
  int place = 0;
  for (auto block = next_pem_block(text); block; block = next_pem_block(text), ++place) {
    const std::string problem = anchor_problem(*block);
    if (!problem.empty()) refuse("entry " + std::to_string(place) + " " + problem);
    std::string& places = anchors[std::move(block->bytes)];
    places += (places.empty() ? "" : " ") + std::to_string(place);
  }
  if (errors.size() != before) return;
  if (anchors.empty()) refuse("at least one trust anchor must be provided");
  for (const auto& [bytes, places] : anchors) {
    if (places.find(' ') != std::string::npos) refuse("duplicate trust anchor (indices [" + places + "])");
  }
}

class TrustBundleStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;

 protected:
  void check(const Object& bundle, FieldErrors& errors) const override {
    const std::string_view signer = get_string_path(bundle, "spec.signerName");
    const auto add = [&](const char* path, std::string_view name, bool prefix) {
      if (name.empty()) return;
      for (const std::string& problem : workload::bundle_name_problems(signer, name, prefix)) errors.invalid(path, name, problem);
    };
    add("metadata.generateName", meta_text(bundle, "generateName"), true);
    add("metadata.name", meta_name(bundle), false);
    if (!signer.empty()) workload::check_signer_name("spec.signerName", signer, errors);
  }
  void check_new(const Object& bundle, FieldErrors& errors) const override { check_bundle(get_string_path(bundle, kBundle), errors); }
  // An unchanged bundle is not validated again, because older versions may have validated less.
  void check_change(const Object& bundle, const Object& old, FieldErrors& errors) const override {
    const auto changed = [&](const char* path) { return get_string_path(bundle, path) != get_string_path(old, path); };
    if (changed(kBundle)) check_bundle(get_string_path(bundle, kBundle), errors);
    if (changed("spec.signerName")) {
      errors.invalid("spec.signerName", get_string_path(bundle, "spec.signerName"), "field is immutable");
    }
  }
};

}  // namespace

KindCode trust_bundle_code() { return {.make = made<TrustBundleStrategy>()}; }

}  // namespace backplane::certificates
