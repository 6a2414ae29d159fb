// Reads the documents of an APIService's server about its group version: the resources, from aggregated or legacy discovery, its OpenAPI v3
// document, and its part of the server's OpenAPI v2 document, which is sent only if it has changed (ETag).
//
// Thread-safety: the host's executor.
// Lifetime:      the task keeps what it needs; it ends within some seconds.
// Errors:        in RemoteReading; the former documents are then retained, and marked as not current.
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
