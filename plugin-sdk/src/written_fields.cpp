#include "backplane/written_fields.hpp"

namespace backplane BACKPLANE_API {

WrittenFieldsProvider::~WrittenFieldsProvider() = default;

}  // namespace BACKPLANE_API
