// The handlers below /openapi: JSON and protobuf, with ETags and the headers with which clients cache a document.
//
// Thread-safety: each is for one request.
// Lifetime:      a handler holds the route table until the document has been generated.
#pragma once

#include <memory>
#include <string_view>

#include "backplane/points/http.hpp"
#include "routing/route_table.hpp"

namespace backplane {

std::shared_ptr<HttpHandler> openapi_v2_handler(TableRef table, std::shared_ptr<DocumentShelf> shelf);
std::shared_ptr<HttpHandler> openapi_v3_index_handler(TableRef table, std::shared_ptr<DocumentShelf> shelf);
// `rest`: the path after "/openapi/v3/": api/VERSION or apis/GROUP/VERSION, or the path of another document.
std::shared_ptr<HttpHandler> openapi_v3_handler(const RouteTable& routes, std::shared_ptr<DocumentShelf> shelf, std::string_view rest);

}  // namespace backplane
