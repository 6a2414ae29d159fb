#include "backplane/written_fields.hpp"

#include "backplane/strategy_marks.hpp"

namespace backplane BACKPLANE_API {

WrittenFieldsProvider::~WrittenFieldsProvider() = default;
WithoutTables::~WithoutTables() = default;
WithoutDependents::~WithoutDependents() = default;

}  // namespace BACKPLANE_API
