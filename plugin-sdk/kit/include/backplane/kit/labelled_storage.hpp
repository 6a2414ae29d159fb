// A storage of a kind that speaks of field labels it has not in words of its own.
//
// Thread-safety: as the storage behind.
// Lifetime:      keeps the storage behind alive.
// Errors:        those of the storage behind, and kBadRequest for a list, a watch or a deletion by a label that is not among its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/kit/forwarding_storage.hpp"

namespace backplane {
namespace kit BACKPLANE_API {

class LabelledStorage : public ForwardingStorage {
 public:
  // `labels`: all that selectors may name; others are told `before`, the label and `after`.
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
