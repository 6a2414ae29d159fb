// The kinds of a schema set.
#include "schema/type.hpp"

namespace backplane BACKPLANE_API {

std::vector<GroupVersionKind> SchemaSet::kinds() const {
  std::vector<GroupVersionKind> out;
  out.reserve(state_->by_kind.size());
  for (const auto& [kind, type] : state_->by_kind) out.push_back(kind);
  return out;
}

}  // namespace BACKPLANE_API
