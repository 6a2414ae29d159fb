// The schemas that the SDK carries: meta.k8s.io/v1 with Scale, which every set imports, and core v1 with the types of pod templates.
#include <array>
#include <cassert>

#include "core_v1_json.hpp"
#include "meta_v1_json.hpp"
#include "schema/indexer.hpp"
#include "schema/type.hpp"

namespace backplane BACKPLANE_API {

std::shared_ptr<const SchemaSet> meta_schemas() {
  static const std::shared_ptr<const SchemaSet> set = [] {
    auto state = std::make_unique<SchemaSet::State>();
    [[maybe_unused]] const Status status = schema::Indexer(*state).add(meta_v1_json(), 1);
    assert(status.ok());
    return std::make_shared<const SchemaSet>(std::move(state));
  }();
  return set;
}

std::shared_ptr<const SchemaSet> core_schemas() {
  static const std::shared_ptr<const SchemaSet> set = [] {
    const std::array<std::string_view, 1> documents = {core_v1_json()};
    auto made = SchemaSet::embedded(documents, {meta_schemas()});
    assert(made.ok());
    return std::move(*made);
  }();
  return set;
}

}  // namespace BACKPLANE_API
