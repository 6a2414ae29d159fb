#include "backplane/kit/base64.hpp"

#include "schema/base64.hpp"

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {

std::string to_base64(std::string_view bytes) { return schema::encode_base64(bytes); }

std::optional<std::string> from_base64(std::string_view text) {
  std::string bytes;
  if (schema::decode_go_base64(text, bytes)) return std::nullopt;
  return bytes;
}

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
