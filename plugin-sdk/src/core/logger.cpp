#include "backplane/core/logger.hpp"

namespace backplane BACKPLANE_API {

Logger::~Logger() = default;

}  // namespace BACKPLANE_API
