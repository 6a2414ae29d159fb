// The transformers of one configuration.
//
// Thread-safety: every method from any thread. find() takes no lock; the first look-up of a resource below a wildcard copies a small map.
// Lifetime:      shared; a configuration that has been replaced lives until its last read and write has ended, and its connections to KMS
//                plugins with it.
// Errors:        500 with upstream's text.
// Source:        k8s.io/apiserver/pkg/server/options/encryptionconfig/config.go.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backplane/core/meta.hpp"
#include "backplane/points/storage_transformer.hpp"
#include "step.hpp"

namespace backplane::encryption {

// One provider of the configuration, from which the steps of each resource are made.
struct ProviderSteps {
  std::string prefix;
  StepRef step;                    // null: the provider has one step for each key, in `keys`
  std::string no_match;            // the error if no key has the name in the stored value
  std::vector<PrefixedStep> keys;  // the prefixes are "NAME:"

  PrefixedStep for_resource(std::string_view resource) const;
};

class Transformers final : public StorageTransformers {
 public:
  using Providers = std::vector<ProviderSteps>;

  // `storage_root` (--etcd-prefix) replaces "/registry" in the storage keys to which values are bound.
  explicit Transformers(std::string storage_root) : storage_root_(std::move(storage_root)) {}

  // Adds providers to those of the resource, which may be a wildcard. Must not be called after the first find().
  // Errors: a wildcard that was added before masks the resource.
  Outcome<Done> add(const std::string& resource, const Providers& providers);

  // Returns null for a resource without configuration.
  std::shared_ptr<const StorageTransformer> find(const GroupResource& resource) const override;
  // Returns the resources of the configuration in the format of the file, sorted.
  std::vector<std::string> resources() const;

 private:
  using Key = std::pair<std::string, std::string>;  // group, resource
  using Made = std::map<Key, std::shared_ptr<const StorageTransformer>>;

  std::shared_ptr<const StorageTransformer> make(const GroupResource& resource) const;
  const Providers* providers_of(const GroupResource& resource) const;

  const std::string storage_root_;
  std::map<Key, Providers> configured_;
  mutable std::atomic<std::shared_ptr<const Made>> made_{std::make_shared<const Made>()};
};

}  // namespace backplane::encryption
