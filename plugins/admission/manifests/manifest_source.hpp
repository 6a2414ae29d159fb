// The directory of manifests of one admission plugin (staticManifestsDir): loaded when the server starts, and again when it changes.
//
//   auto source = std::make_shared<ManifestSource>(host, kValidatingPolicies, "ValidatingAdmissionPolicy", directory, apply);
//   Status loaded = source->load();              // an error fails startup
//   host.spawn("manifests", ManifestSource::watch(source));
//
// Thread-safety: every method on the plugin's executor.
// Lifetime:      shared with its task, which ends with the server.
// Errors:        load(): the reason why the manifests cannot be used. Later errors are logged and counted, and the old objects stay in use.
// Source:        k8s.io/apiserver/pkg/admission/plugin/policy/manifest/source, …/webhook/manifest/source, …/manifest/metrics.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "backplane/host.hpp"
#include "manifests/manifest_objects.hpp"

namespace backplane::admission::manifests {

class ManifestSource {
 public:
  using Apply = std::function<void(const ManifestObjects& objects)>;
  ManifestSource(Host& host, ManifestKinds kinds, std::string_view plugin, std::string directory, Apply apply);

  // Reads the manifests and passes them to Apply. Blocks.
  Status load();
  static Task<void> watch(std::shared_ptr<ManifestSource> source);

 private:
  void take(const ManifestObjects& objects);
  void count(bool success);

  Host& host_;
  const ManifestKinds kinds_;
  const std::string plugin_, directory_, server_;
  const Apply apply_;
  std::string hash_;
  bool shown_ = false;  // the metric of the hash has been set
};

}  // namespace backplane::admission::manifests
