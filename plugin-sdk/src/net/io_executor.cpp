#include "backplane/net/io_executor.hpp"

namespace backplane BACKPLANE_API {

IoExecutor::~IoExecutor() = default;
DescriptorWatch::~DescriptorWatch() = default;

}  // namespace BACKPLANE_API
