#include "backplane/net/forwarded_documents.hpp"

namespace backplane BACKPLANE_API {

ForwardedDocuments::~ForwardedDocuments() = default;

}  // namespace BACKPLANE_API
