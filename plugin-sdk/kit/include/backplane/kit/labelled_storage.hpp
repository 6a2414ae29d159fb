// A storage that refuses unknown field labels with the kind's own error text.
//
// Thread-safety: that of the wrapped storage.
// Lifetime:      owns a reference to the wrapped storage.
// Errors:        those of the wrapped storage; kBadRequest for list, watch and deletecollection with an unknown field label.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/kit/forwarding_storage.hpp"

namespace backplane {
namespace kit BACKPLANE_API {

// kit::GroupInstaller::put_words makes one.
class LabelledStorage : public ForwardingStorage {
 public:
  // `labels`: the known field labels. The error for another label is `before` + label + `after`.
  // `field label not supported: spec.x` and the like, worded as the kind's strategy upstream words it.
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
