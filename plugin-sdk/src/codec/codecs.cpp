#include "backplane/codec.hpp"

namespace backplane BACKPLANE_API {

const std::vector<const Codec*>& codecs() {
  static const std::vector<const Codec*> all = {&json_codec(), &protobuf_codec()};
  return all;
}

const Codec* find_codec(std::string_view name) noexcept {
  for (const Codec* codec : codecs()) {
    if (codec->name() == name) return codec;
  }
  return nullptr;
}

}  // namespace BACKPLANE_API
