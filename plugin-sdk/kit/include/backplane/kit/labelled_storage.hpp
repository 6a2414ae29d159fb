// A storage that refuses unknown field labels with an error text that is specific to the kind.
//
// Thread-safety: like the wrapped storage.
// Lifetime:      owns a reference to the wrapped storage.
// Errors:        those of the wrapped storage; kBadRequest for list, watch and deletecollection with an unknown field label.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/kit/forwarding_storage.hpp"

namespace backplane {
namespace kit BACKPLANE_API {

// GroupInstaller::put_words (kit/group.hpp) makes such storages.
class LabelledStorage : public ForwardingStorage {
 public:
  // `labels`: the known field labels. The error for any other label is `before` + label + `after`, such as `field label not supported:
  // spec.x`. The texts are those of upstream's strategy of the kind.
  struct Words {
    std::vector<std::string> labels;
    std::string before;
    std::string after = {};
  };
  LabelledStorage(std::shared_ptr<StandardStorage> store, Words words) : ForwardingStorage(std::move(store)), words_(std::move(words)) {}

  Task<Result<ListResult>> list(RequestContext& context, ListOptions options) override;
  Task<Result<std::unique_ptr<WatchStream>>> watch(RequestContext& context, ListOptions options) override;
  Task<Result<ListResult>> remove_collection(RequestContext& context, DeleteOptions options, ListOptions list) override;

 protected:
  Status check_labels(const ListOptions& options) const;

 private:
  const Words words_;
};

}  // namespace BACKPLANE_API
}  // namespace backplane
