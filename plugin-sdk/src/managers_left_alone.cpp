#include "backplane/managers_left_alone.hpp"

namespace backplane BACKPLANE_API {

ManagersLeftAlone::~ManagersLeftAlone() = default;

}  // namespace BACKPLANE_API
