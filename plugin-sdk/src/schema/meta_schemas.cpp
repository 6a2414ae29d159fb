// The schemas of meta.k8s.io/v1 and of Scale, which every set imports.
#include <cassert>

#include "meta_v1_json.hpp"
#include "schema/indexer.hpp"
#include "schema/type.hpp"

namespace backplane {

std::shared_ptr<const SchemaSet> meta_schemas() {
  static const std::shared_ptr<const SchemaSet> set = [] {
    auto state = std::make_unique<SchemaSet::State>();
    [[maybe_unused]] const Status status = schema::Indexer(*state).add(meta_v1_json(), 1);
    assert(status.ok());
    return std::make_shared<const SchemaSet>(std::move(state));
  }();
  return set;
}

}  // namespace backplane
