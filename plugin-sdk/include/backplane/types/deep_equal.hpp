// Whether two values say the same: a list without items is as good as none, wherever it stands (apiequality.Semantic.DeepEqual; an empty
// object is another thing than none, as it may be a struct).
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/core/json.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// Null: nothing is there, which is what null in the tree says, too.
bool alike(const Value* a, const Value* b) noexcept;

}  // namespace BACKPLANE_API
