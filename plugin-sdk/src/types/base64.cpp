#include "backplane/types/base64.hpp"

#include "text/base64.hpp"

namespace backplane BACKPLANE_API {

std::string to_base64(std::string_view bytes) { return schema::encode_base64(bytes); }

std::optional<std::string> from_base64(std::string_view text) {
  std::string bytes;
  if (schema::decode_go_base64(text, bytes)) return std::nullopt;
  return bytes;
}

}  // namespace BACKPLANE_API
