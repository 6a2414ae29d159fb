// The handlers of /openapi. They send documents in JSON or protobuf, with ETags and the headers that allow clients to cache a document.
//
// Thread-safety: each handler serves one request.
// Lifetime:      a handler keeps the route table alive until the document has been generated.
#pragma once

#include <memory>
#include <string_view>

#include "backplane/points/http.hpp"
#include "routing/route_table.hpp"

namespace backplane {

std::shared_ptr<HttpHandler> openapi_v2_handler(TableRef table, std::shared_ptr<DocumentShelf> shelf);
std::shared_ptr<HttpHandler> openapi_v3_index_handler(TableRef table, std::shared_ptr<DocumentShelf> shelf);
// `rest`: the path after "/openapi/v3/". It is api/VERSION, apis/GROUP/VERSION or the name of another document.
std::shared_ptr<HttpHandler> openapi_v3_handler(const RouteTable& routes, std::shared_ptr<DocumentShelf> shelf, std::string_view rest);

}  // namespace backplane
