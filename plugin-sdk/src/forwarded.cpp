#include "backplane/forwarded.hpp"

namespace backplane BACKPLANE_API {

ForwardedDocuments::~ForwardedDocuments() = default;

}  // namespace BACKPLANE_API
