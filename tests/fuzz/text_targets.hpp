// Targets of parsers that need no connection: bodies, queries, selectors, patches, schemas and others.
#pragma once

#include <string_view>

namespace backplane::fuzz {

void cbor_body(std::string_view bytes);
void json_body(std::string_view bytes);
void yaml_body(std::string_view bytes);
void protobuf_body(std::string_view bytes);
void raw_values(std::string_view bytes);
void patches(std::string_view bytes);
void field_sets(std::string_view bytes);
void selectors(std::string_view bytes);
void targets_and_queries(std::string_view bytes);
void custom_schemas(std::string_view bytes);
void expressions(std::string_view bytes);
void websocket_frames(std::string_view bytes);

}  // namespace backplane::fuzz
