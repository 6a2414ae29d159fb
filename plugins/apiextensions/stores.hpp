// The host's storages of one definition's resource, made at the first request for its objects. A type that is not used needs no cache and
// no read of the store.
//
// Thread-safety: any thread; a caller that arrives while another thread makes the storages waits. Making them reads nothing from the store.
// Lifetime:      shared by the published handlers of the definition; the host outlives it.
// Errors:        the host's; the next request tries again. kServiceUnavailable if the definition has changed before any request used the
//                storages, because two definitions of one resource must not both make storages.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "backplane/rest/standard_storage.hpp"
#include "conversion_webhook.hpp"
#include "custom_resource.hpp"

namespace backplane::apiextensions {

class Stores {
 public:
  // The host's storages of one served version; null: it has no such subresource.
  struct Version {
    std::shared_ptr<StandardStorage> objects;
    std::shared_ptr<SubresourceStorage> status;
    std::shared_ptr<SubresourceStorage> scale;
  };

  // `webhook`: converts the resource's objects; null: no conversion is needed.
  Stores(Host& host, std::shared_ptr<const CustomResource> resource, std::shared_ptr<ConversionWebhook> webhook)
      : host_(host), resource_(std::move(resource)), webhook_(std::move(webhook)) {}

  // `closed`: no storages are made until the next close(false); existing ones remain.
  void close(bool closed);

  const CustomResource& resource() const noexcept { return *resource_; }
  // The storage of the stored version.
  Result<std::shared_ptr<StandardStorage>> stored() const;
  // `version` must be a served version of the resource.
  Result<const Version*> of(const CustomVersion& version) const;

 private:
  struct Made {
    std::shared_ptr<StandardStorage> stored;
    std::map<const CustomVersion*, Version> versions;
  };
  Result<const Made*> made() const;
  Result<std::unique_ptr<const Made>> make() const;
  Result<Version> make_version(const CustomVersion& version) const;

  Host& host_;
  const std::shared_ptr<const CustomResource> resource_;
  const std::shared_ptr<ConversionWebhook> webhook_;
  mutable std::mutex mutex_;  // held while the storages are made; also guards closed_ and made_
  bool closed_ = false;
  mutable std::atomic<const Made*> ready_{nullptr};
  mutable std::unique_ptr<const Made> made_;
};

}  // namespace backplane::apiextensions
