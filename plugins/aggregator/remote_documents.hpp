// Reads the documents of an APIService's server about its group version: the resources from aggregated or legacy discovery, the OpenAPI v3
// document, and the part of the server's OpenAPI v2 document. The server sends the OpenAPI v2 document only if it has changed (ETag).
//
// Thread-safety: the host's executor.
// Lifetime:      the task owns its arguments. Each of its calls has a time limit.
// Errors:        RemoteReading::problem. The former documents are then retained, and marked as not current.
#pragma once

#include <memory>

#include "proxy_handler.hpp"

namespace backplane {

struct RemoteReading {
  RemoteDocumentsRef documents;
  Status problem;
};

Task<RemoteReading> read_documents(std::shared_ptr<ProxyState> state, RemoteDocumentsRef before);
// Compares all but the ETags.
bool same_documents(const RemoteDocuments& left, const RemoteDocuments& right);

}  // namespace backplane
